"""A panel as one offline file: a colleague opens it by double click and browses every view, without kernel or network.

The file holds the very module that draws the panel in a notebook, and in the place of a kernel the answers to what its
views ask (`questions`). The commands are absent. All that comes from models, tools and files is packed (gzip, base64),
so that no text of it can end the script it stands in; the page forbids itself any connection and any other script.

The same run gives the same bytes (with the same zlib). Keys, tokens and passwords are taken out as in a saved run.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import marshal
import os
import re
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any

from adknb.stepper.patches import plain
from adknb.stepper.redact import SHORTEST, Pattern, is_secret_name, patterns_of, redacted
from adknb.whole_file import write_whole
from adknb.widgets import static, text
from adknb.widgets.brief import as_json
from adknb.widgets.copies import WAYS
from adknb.widgets.panel import answers, assets, requests
from adknb.widgets.panel.desk import Desk
from adknb.widgets.wire import clean, clean_text, cut

Json = dict[str, Any]

MOST_LOOKS = 300
"""Of more past stops than these, the newest can be looked at; fewer where the requests are long."""

LOOKED_CONTENTS = 40_000
"""So many contents, counted over all stops that can be looked at."""

SHORT = 200
"""A past request with more contents is compared with the stop before it only."""

MOST_CELLS = 1_500
"""Of a larger matrix of agents and events the reasons of single cells are not in the file."""

MOST_KEYS, MOST_VIEWERS = 40, 12
"""Keys of the state whose history can be singled out; what-ifs about the contents."""

LONGEST = 20_000
"""A longer text of an event is cut."""

MOST_SOUND = 8_000_000
"""Of the sounds of a live run, as text, what goes beyond this can be seen in the file and not played."""

LONGEST_COPY = 200_000
"""A request whose JSON is longer cannot be copied from the file."""


def to_html(stepper: Any, path: str | os.PathLike[str], redact: Iterable[Pattern] = ()) -> None:
    """Write what the panel of a Stepper shows as one file, all of it or nothing.

    `redact` are patterns of what else is to be taken out, besides what looks like a key (`stepper.redact`).

    Raises:
        BadData: the file cannot be written, or a pattern is none.
    """
    write_whole(path, document(stepper, redact))


def document(stepper: Any, redact: Iterable[Pattern] = ()) -> str:
    """The text of the file."""
    with stepper.lock:
        data = contents_of(stepper, redact)
        plain_form, title = data.pop("plain"), data.pop("title")
    packed = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    script = f"(() => {{\n{_script()}\n}})();"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; media-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>\n{PAGE}\n{assets.styles()}</style>",
            "</head>",
            "<body>",
            '<main id="panel"></main>',
            f'<div id="plain">{plain_form}</div>',
            f'<script type="application/octet-stream" id="data">{_packed(packed)}</script>',
            f"<script>{script}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def contents_of(stepper: Any, redact: Iterable[Pattern] = ()) -> Json:
    """What the file holds as data: the traits of the panel, the answers, the events."""
    desk = Paper(stepper)
    answered = [(question, answer) for question in questions(desk) if (answer := desk.answer(question)) is not None]
    for _, answer in answered:
        if "lanes" in answer:
            answer["lanes"] = playable(answer["lanes"])
    pool = Pool()
    data = {
        "book": desk.book,
        "view": desk.view,
        **desk.whole(),
        "answers": [[question, pool.encoded(answer)] for question, answer in answered],
        "unfolded": pool.encoded(desk.unfolded()),
        "events": [shortened(clean(event.to_json())) for event in stepper.events],
        "pool": pool.entries,
        "state": clean(plain(dict(stepper.state))),  # its names tell what is secret
        "plain": static.html(stepper),
        "title": clean_text(f"adknb: {desk.view['title']}, {text.headline(stepper)}"),
    }
    out: Json = redacted(data, [*patterns_of(redact), *_as_written(_secrets([data["events"], data["state"]]))])
    del out["state"]
    return out


def _secrets(data: Any, secret: bool = False) -> Iterator[str]:
    """The texts that stand under a name that says *secret*."""
    if isinstance(data, str) and secret:
        yield data
    elif isinstance(data, (list, dict)):
        for key, inner in data.items() if isinstance(data, dict) else ((None, v) for v in data):
            yield from _secrets(inner, secret or (key is not None and is_secret_name(key)))


def _as_written(secrets: Iterable[str]) -> list[re.Pattern[str]]:
    """How such texts look inside JSON and HTML, where that is otherwise than they are."""
    long = {s for s in secrets if len(s) >= SHORTEST}
    inner = {form for s in long for t in (s, json.dumps(s)[1:-1], as_json(s)[1:-1]) for form in (t, escape(t))} - long
    return [re.compile(re.escape(form)) for form in sorted(inner, key=len, reverse=True)]


class Paper(Desk):
    """A desk whose answers are written down."""

    def __init__(self, stepper: Any) -> None:
        super().__init__(stepper)
        self._kept.patient = True
        self.heard: list[Json] = []
        self.book: Json = {**self.start(), "commands": [], "breakpoints": False, "rewind": False}
        self.book["keys"] = [pair for pair in self.book["keys"] if pair[0] not in KEYS_OF_A_RUN]
        self.view: Json = {**self.look(), "note": "", "printed": "", "edits": [], "marks": [], "lanes": []}

    def send(self, content: Json) -> None:
        """Write it down."""
        self.heard.append(content)

    def answer(self, question: Json) -> Json | None:
        """What a kernel would answer; None where it has no answer."""
        failed, found = len(self.errors), None
        while found is None or found.get("more"):  # a matrix comes in pieces
            self.heard.clear()
            self.serve({**question, "re": 0})
            found = next((m for m in reversed(self.heard) if m.get("re") == 0), None)
            if found is None or len(self.errors) > failed:
                return None
        return {k: v for k, v in found.items() if k not in ("re", "ask")}

    def unfolded(self) -> Json | None:
        """The picture of the contents with every turn unfolded, if turns are folded."""
        folded = self.answer({"type": "assemble", "viewer": None, "open": []}) or {}
        firsts = [row[0] for row in folded.get("rows") or () if row[1] - row[0] > 1]
        every = list(range(len(self.stepper.events)))
        return self.answer({"type": "assemble", "viewer": None, "open": every}) if firsts else None


KEYS_OF_A_RUN = (".", "e", "u", "Ctrl+Enter", "Shift+Enter")
"""Keys that change a run or a draft: there is none in a file."""


def questions(desk: Desk) -> Iterator[Json]:
    """What the views of a file ask, except for the JSON of events."""
    stepper = desk.stepper
    for against in requests.AGAINST:
        yield {"type": "page", "name": "Request", "against": against}
    yield {"type": "page", "name": "State"}
    yield from ({"type": "page", "name": "State", "key": clean_text(key)} for key in sorted(stepper.state)[:MOST_KEYS])
    yield {"type": "page", "name": "Findings"}
    yield {"type": "page", "name": "Findings", "examine": True}
    yield {"type": "page", "name": "Source"}
    yield from ({"type": "page", "name": "Source", "stage": k} for k in range(len(desk.view["stages"])))
    yield from ({"type": "page", "name": name} for name in answers.extra_tabs(stepper))
    yield {"type": "where"}
    yield {"type": "fates"}
    yield {"type": "matrix"}
    yield from _about_contents(desk)
    yield from _about_cells(desk)
    yield from _copies(stepper)
    yield from _looks(stepper)


def _about_contents(desk: Desk) -> Iterator[Json]:
    """The contents of the present viewer, of the other agents, and with the switches turned."""
    yield {"type": "assemble", "viewer": None, "open": []}
    own = answers.viewer_json(answers.viewer_here(desk.stepper, desk._invocation))
    if own is None:
        return
    asked: list[Json] = [{**own, "include": "" if own["include"] else "none"}]
    asked.append({**own, "compaction": not own["compaction"]})
    agents = [{"agent": a["name"], "branch": a["branch"], "scope": a["scope"]} for a in desk.view["agents"]]
    yield from ({"type": "assemble", "viewer": viewer, "open": []} for viewer in (asked + agents)[:MOST_VIEWERS])


def _about_cells(desk: Desk) -> Iterator[Json]:
    names = [viewer.agent_name for viewer in desk._kept.matrix.viewers]
    n = len(desk.stepper.events)
    if len(names) * n <= MOST_CELLS:
        yield from ({"type": "meet", "agent": name, "event": i} for name in names for i in range(n))


def _copies(stepper: Any) -> Iterator[Json]:
    now = stepper.request_shown
    if now is not None and sum(map(len, json.JSONEncoder(default=str).iterencode(now))) <= LONGEST_COPY:
        yield from ({"type": "text", "why": "copy", "as": way} for way in WAYS)


def _looks(stepper: Any) -> Iterator[Json]:
    """The newest stops, as many as there is room for."""
    contents = len((stepper.request_shown or {}).get("contents") or [])
    most = min(MOST_LOOKS, max(20, LOOKED_CONTENTS // (contents + 1)))
    last = len(stepper.stops) - (stepper.here is not None)
    compared = requests.AGAINST if contents <= SHORT else requests.AGAINST[:1]
    for number in range(max(0, last - most), last):
        yield {"type": "look", "stop": number}
        for against in compared:
            yield {"type": "page", "name": "Request", "against": against, "stop": number}


# ---- packing


class Pool:
    """Values that several answers share, once each: see `js/file.js` for how they are read."""

    SMALLEST, DEEPEST = 60, 7

    def __init__(self) -> None:
        self.entries: list[list[Any]] = []
        """[whether it is to be read as it is, value]"""
        self._known: dict[bytes, int] = {}

    def encoded(self, value: Any, depth: int = 0) -> Any:
        """The value with references in the place of what is in the pool."""
        if not isinstance(value, (dict, list)) or depth > self.DEEPEST:
            return value
        if isinstance(value, dict) and "@" in value:  # somebody's own: never to be taken for a reference
            return {"@": self._entry(marshal.dumps(value, 2), True, value)}
        key = marshal.dumps(value, 2)
        if len(key) < self.SMALLEST and b"@" not in key:
            return value
        if isinstance(value, dict):
            inner: Any = {k: self.encoded(v, depth + 1) for k, v in value.items()}
        else:
            inner = [self.encoded(v, depth + 1) for v in value]
        return inner if depth == 0 else {"@": self._entry(key, False, inner)}

    def _entry(self, key: bytes, raw: bool, value: Any) -> int:
        if key not in self._known:
            self._known[key] = len(self.entries)
            self.entries.append([raw, value])
        return self._known[key]


def playable(lanes: Iterable[Json]) -> list[Json]:
    """The rows of a live run with as much of their sound as the file has room for, the first ones' first."""
    out, room = [], MOST_SOUND
    for row in lanes:
        src = (row.get("sound") or {}).get("src") or ""
        room -= len(src)
        out.append(row if room >= 0 or not src else {**row, "sound": {**row["sound"], "src": ""}})
    return out


def shortened(value: Any) -> Any:
    """JSON with its long texts cut: a picture in a part is not for reading."""
    if isinstance(value, str):
        return cut(value, LONGEST)
    if isinstance(value, dict):
        return {k: shortened(v) for k, v in value.items()}
    return [shortened(v) for v in value] if isinstance(value, list) else value


def _packed(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def _script() -> str:
    """The panel's module as a plain script, with what reads the file. Nothing of a run is in it."""
    module = assets.module().replace("export default { render };", "")
    file = (Path(assets.HERE) / "js" / "file.js").read_text(encoding="utf-8")
    return "\n".join([module, file, START]).replace("</", "<\\/")


START = """
// ---- the page of the file
const unpacked = async () => {
  const bytes = Uint8Array.from(atob(document.getElementById("data").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
};
unpacked().then((data) => {
  const traits = { ...data, file: answersOf(data), kept: {} };
  const model = { get: (name) => traits[name], set() {}, on() {}, off() {}, send() {}, save_changes() {} };
  document.getElementById("plain").remove();
  const el = document.getElementById("panel");
  render({ model, el, signal: new AbortController().signal });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => { document.body.className = dark.matches ? "dark" : ""; });
}).catch((error) => { console.error(error); document.title += " (without its panel: this browser is too old)"; });
"""

PAGE = """html, body { margin: 0; height: 100%; }
body { background: var(--jp-layout-color1, #fff); color: var(--jp-ui-font-color0, #000); }
#plain { padding: 12px; font-family: system-ui, sans-serif; }
#panel > .adk { height: 100vh; min-height: 0; border: 0; resize: none; }
@media (prefers-color-scheme: dark) {
  :root { color-scheme: dark; --jp-layout-color1: #212121; --jp-ui-font-color0: #fff; --jp-brand-color1: #2196f3; }
}"""
