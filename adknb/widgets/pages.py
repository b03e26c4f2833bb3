"""Plain views as blocks: one description for the panel and for static HTML.

block   ["h", *spans] · ["p", *spans] · ["pre", text] · ["table", head or None, rows] · ["rows", look, [row]]
row     {"by": [span], "text": [line], "op": [kind, words] or None, "look": class}
line    a list of spans; a cell too
span    "text" or [kind, *spans], kind: code b mut del ins th fn id bad line note · i (icon) · ev (event) · au (author)
        · st (stage that wrote it) · ed (name of what can be edited)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from adknb.lens.request_changes import Change
from adknb.widgets import brief
from adknb.widgets.brief import Json, plural
from adknb.widgets.wire import cut

Block = list[Any]
Span = Any

FOLD_ABOVE, SHOWN_WHEN_FOLDED = 80, 60
"""Of more contents than the first, only the second many are drawn, the newest."""


def request_page(
    now: Json | None,
    changes: Sequence[Change],
    tools: Sequence[Json],
    held: Sequence[Block] = (),
    paragraphs: Sequence[tuple[str, str]] = (),
) -> list[list[Block]]:
    """The request in two columns: instruction and contents; tools and config. Changes are marked where they are.

    `tools` are `{"name", "declared": declaration or None, "local": words or "", "listed": bool}`, `paragraphs` those of
    the system instruction, each with the stage that wrote it.
    """
    if now is None:
        return [[*held, ["p", ["mut", "No request is being built here."]]]]
    config = now.get("config") or {}
    left: list[Block] = [*held, *_instruction(config, changes, paragraphs)]
    left += contents_blocks(now.get("contents") or [], changes)
    right: list[Block] = [*_tools(tools, changes), ["h", "Model and config"], ["table", None, _config(now, changes)]]
    return [left, right]


def summary(changes: Sequence[Change] | None, compared: bool) -> str:
    """How much has changed, in a few words."""
    if not compared:
        return "Nothing to compare with yet."
    return plural(len(changes), "change") if changes else "No change."


WHAT_BECAME_OF_IT = {"add": "new", "remove": "gone", "replace": "changed"}


def change_words(change: Change) -> str:
    """A change in a few words: `contents[3] new`."""
    path = readable(change.path)
    if change.op == "move":
        return f"{path} moved from {str(change.before).rsplit('/', 1)[-1]}"
    return f"{path} {WHAT_BECAME_OF_IT[change.op]}"


def readable(path: str) -> str:
    """`/contents/3/parts/0/text` -> `contents[3].parts[0].text`."""
    steps = [s.replace("~1", "/").replace("~0", "~") for s in path.split("/")[1:]]
    return "".join(f"[{s}]" if s.isdigit() else f".{s}" for s in steps).lstrip(".")


# ---- the request


def _instruction(config: Json, changes: Sequence[Change], written: Sequence[tuple[str, str]]) -> list[Block]:
    given = config.get("systemInstruction")
    parts = [{"text": given}] if isinstance(given, str) else brief.parts_of(given)
    whole = any(c.op == "add" and c.path in ("/config", "/config/systemInstruction") for c in changes)
    gone = [c for c in changes if c.op == "remove" and c.path.startswith("/config/systemInstruction")]
    rows: list[Json] = []
    for j, part in enumerate(parts):
        if part.get("text") is None:
            rows.append({"by": [], "text": [[brief.part(part)]], "op": None})
            continue
        at = f"/config/systemInstruction/parts/{j}"
        own = [c for c in changes if c.path in (at, at + "/text", "/config/systemInstruction")]
        words = next((c.words for c in own if c.words), ())
        new = whole or any(c.op == "add" for c in own)
        for spans, op, text in _paragraphs(words or ((("+" if new else "="), str(part["text"])),), plain=new):
            rows.append({"by": _writer(text, written), "text": [spans], "op": op})
    rows += [{"by": [], "text": [[["del", cut(_text_of(c.before))]]], "op": ["removed", "gone"]} for c in gone]
    for n, row in enumerate(rows):
        row["by"] = row["by"] or [["mut", str(n + 1)]]
    note = plural(len(rows) - len(gone), "paragraph") if parts else "not written"
    by = ", by the stage that wrote each" if written and parts else ""
    return [["h", "System instruction", ["mut", note + by]], ["rows", "blame", rows]]


def _writer(text: str, written: Sequence[tuple[str, str]]) -> list[Span]:
    """The stage that wrote a paragraph. Two that say the same may be of two stages: told by the first."""
    stage = next((stage for paragraph, stage in written if paragraph == text.strip()), "")
    return [["st", stage]] if stage else []


def _paragraphs(words: Iterable[tuple[str, str]], plain: bool) -> Iterable[tuple[list[Span], Any, str]]:
    """Words of a diff, a paragraph at a time, with what became of each and its text as it now is."""
    kinds = {"+": "ins", "-": "del"}
    paragraphs: list[list[tuple[str, str]]] = [[]]
    for op, text in words:
        first, *more = text.split("\n\n")
        paragraphs[-1].append((op, first))
        paragraphs += [[(op, t)] for t in more]
    for paragraph in paragraphs:
        ops = {op for op, text in paragraph if text.strip()}
        if not ops:
            continue
        all_new = ops == {"+"}
        spans = [
            [kinds[op], cut(t)] if op != "=" and not (all_new and op == "+") else cut(t) for op, t in paragraph if t
        ]
        became = ["added", "new"] if all_new or plain else None if ops == {"="} else ["changed", "changed"]
        yield spans, became, "".join(t for sign, t in paragraph if sign != "-")


def contents_blocks(contents: Sequence[Json], changes: Sequence[Change]) -> list[Block]:
    """The contents of a request, changes marked where they are."""
    by_content: dict[int, list[Change]] = {}
    gone: list[Change] = []
    all_new = any(c.op == "add" and c.path == "/contents" for c in changes)
    for c in changes:
        steps = c.path.split("/")
        if len(steps) > 2 and steps[1] == "contents":
            if c.op == "remove" and len(steps) == 3:
                gone.append(c)
            else:
                by_content.setdefault(int(steps[2]), []).append(c)
    skip = len(contents) - SHOWN_WHEN_FOLDED if len(contents) > FOLD_ABOVE else 0
    rows = [_bubble(i, contents[i], by_content.get(i, []), all_new) for i in range(skip, len(contents))]
    rows += [
        {
            "by": [],
            "text": [[["del", brief.parts(c.before, 400)]]],
            "op": ["removed", f"gone, was {c.path.split('/')[2]}"],
        }
        for c in gone[:SHOWN_WHEN_FOLDED]
    ]
    out: list[Block] = [["h", "Contents", ["mut", f"{len(contents):,}" if contents else "not written"]]]
    if skip:
        out.append(["p", ["mut", f"The first {skip:,} are not drawn here; the Contents tab has them all."]])
    return [*out, ["rows", "bubbles", rows]]


def _bubble(i: int, content: Json, changes: Sequence[Change], new: bool) -> Json:
    prefix = f"/contents/{i}"
    whole = next((c for c in changes if c.path == prefix), None)
    if new or (whole and whole.op == "add"):
        op: Any = ["added", "new"]
    elif whole and whole.op == "move":
        op = ["moved", f"moved from {str(whole.before).rsplit('/', 1)[-1]}"]
    else:
        op = ["changed", "changed"] if changes else None
    text: list[Any] = []
    for j, part in enumerate(brief.parts_of(content)):
        at = f"{prefix}/parts/{j}"
        own = [c for c in changes if c.path == at or c.path.startswith(at + "/")]
        words = next((c.words for c in own if c.words and c.path == at + "/text"), ())
        text.append(_words(words) if words else _part(part))
        text += [_inner(c, at) for c in own if c.path not in (at, at + "/text")]
    text += [
        [["mut", "gone "], ["del", cut(brief.part(c.before) if isinstance(c.before, dict) else str(c.before), 400)]]
        for c in changes
        if c.op == "remove" and c.path.count("/") == 4
    ]
    if not text:
        text = [[["mut", "no parts"]]]
    return {
        "look": content.get("role") or "",
        "by": [["mut", str(i)], content.get("role") or "–"],
        "text": text,
        "op": op,
    }


def _part(part: Json) -> list[Span]:
    call, response = part.get("functionCall"), part.get("functionResponse")
    if call:
        args = call.get("args") or {}
        inner: list[Span] = ["("]
        for n, (k, v) in enumerate(args.items() if isinstance(args, dict) else ()):
            inner += [", "] * (n > 0) + [["mut", f"{k}="], cut(brief.as_json(v), 4_000)]
        return [
            ["fn", ["i", "call"], ["line", ["b", call.get("name") or "?"], *inner, ")"], ["mut", call.get("id") or ""]]
        ]
    if response:
        said = cut(brief.as_json(response.get("response")), 4_000)
        head = ["b", response.get("name") or "?"]
        return [["fn", ["i", "response"], ["line", head, " " + said], ["mut", response.get("id") or ""]]]
    text = cut(brief.part(part))
    return [["mut", "thought  "], ["th", text]] if part.get("thought") else [text]


def _words(words: Iterable[tuple[str, str]]) -> list[Span]:
    return [cut(t) if op == "=" else ["ins" if op == "+" else "del", cut(t)] for op, t in words]


def _inner(change: Change, at: str) -> list[Span]:
    """A change inside a call or a response: `args.city: Hangzhou Shanghai`."""
    line: list[Span] = [["mut", readable(change.path[len(at) :]).partition(".")[2] + ": "]]
    if change.words:
        return line + _words(change.words)
    line += [["del", cut(brief.value(change.before), 400)], " "] if change.before is not None else []
    return line + ([["ins", cut(brief.value(change.after), 400)]] if change.after is not None else [])


def _tools(tools: Sequence[Json], changes: Sequence[Change]) -> list[Block]:
    if not tools:
        return [["h", "Tools", ["mut", "none"]]]
    touched = {c.path for c in changes if c.path.startswith("/config/tools") and c.op != "remove"}
    rows = []
    for t in tools:
        declared = t.get("declared")
        name: list[Span] = [
            ["line", ["code", ["b", t["name"]]], ["code", f"({signature(declared)})" if declared else ""]]
        ]
        if declared:
            name.append(["note", brief.one_line(str(declared.get("description") or ""), 300)])
            if any(
                p == t.get("path") or p.startswith(f"{t.get('path')}/") or t.get("path", "").startswith(p)
                for p in touched
            ):
                name[0] += ["  ", ["ins", "new"]]
        else:
            name.append(["note", "listed: declares itself after the processors" if t.get("listed") else "not declared"])
        joint = ["i", "joined" if declared and t.get("local") else "waits" if not declared else "alone"]
        if t.get("local"):
            local = [["line", ["code", ["b", t["name"]]]], ["note", t["local"]]]
        elif t.get("remote"):
            local, joint = [["mut", t["remote"]]], ["i", "waits"]
        else:
            local = [["bad", ["i", "warn"], "nobody runs it"]] if declared else []
        rows.append([name, [["mut", joint] if joint[1] != "alone" else ["bad", joint]], local])
    head = [["Declared to the model"], [], ["Local table, never sent"]]
    why = "The model reads the left column and may ask for a call; the right one decides who runs it."
    return [["h", "Tools"], ["table", head, rows], ["p", ["mut", why]]]


def signature(declaration: Json) -> str:
    """The parameters of a declared function: `city: string, days?: integer`."""
    schema = declaration.get("parametersJsonSchema") or declaration.get("parameters") or {}
    if not isinstance(schema, dict):
        return "…"
    required = schema.get("required") or []
    fields = schema.get("properties") or {}
    return ", ".join(
        f"{name}{'' if name in required else '?'}: {str((field or {}).get('type') or 'any').lower()}"
        for name, field in fields.items()
        if isinstance(field, dict)
    )


def _config(now: Json, changes: Sequence[Change]) -> list[Any]:
    config = {k: v for k, v in (now.get("config") or {}).items() if k not in ("systemInstruction", "tools")}
    by_key: dict[str, Change] = {}
    for c in changes:
        steps = c.path.split("/")
        if c.path == "/model" or (len(steps) > 2 and steps[1] == "config"):
            by_key.setdefault(steps[-1] if c.path == "/model" else steps[2], c)
    rows = []
    for key, v in {"model": now.get("model") or "", **config}.items():
        text = cut(brief.value(v), 4_000)
        change = by_key.get(key)
        if change is None:
            spans: list[Span] = [["code", text]]
        elif change.op == "replace" and change.path.count("/") <= 2:
            spans = [["code", ["del", cut(brief.value(change.before), 400)], " ", ["ins", text]]]
        else:
            spans = [["code", ["ins", text]]]
        rows.append([[["mut", key]], spans])
    for key, c in by_key.items():
        if c.op == "remove" and c.path.count("/") == 2 and key not in ("systemInstruction", "tools"):
            rows.append([[["mut", key]], [["code", ["del", cut(brief.value(c.before), 400)]]]])
    return rows


def _text_of(value: Any) -> str:
    if isinstance(value, dict):
        return value.get("text") or " ".join(brief.part(p) for p in brief.parts_of(value))
    return brief.value(value)
