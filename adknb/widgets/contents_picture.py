"""An assembly as a picture: session events left, request contents right, the working list after every pass between.

One message holds it all, each sentence once. Where there are many events, whole turns are one row each, and the
summarised ones one row together: 5,000 events are some hundred rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from adknb.engine.event_json import to_json
from adknb.lens.contents_fates import AS_IT_IS, PASS_OF_STAGE, PASSES, step_of, tag_of, touched_by
from adknb.widgets import brief
from adknb.widgets.wire import clean_text

Json = dict[str, Any]

FOLD_ABOVE = 60
"""With more events than this, all turns but the last are folded."""

MOST_ROWS = 150
"""Of more folded turns than these, several share a row."""

LETTERS = {"kept": "k", "reworded": "r", "merged": "m", "moved": "v", "summarised": "s", "left_out": "o"}
LAST = len(PASSES)

TURN, KIND, CALLS, ANSWERS = 0, 6, 8, 9
"""Columns of an event row (`brief.event_row`)."""


def fates_column(assembly: Any) -> Json:
    """For the event table: what became of every event, as letters, first content, and a tag for what is left out."""
    tags = [""]
    tag_at: list[int] = []
    for fate in assembly.fates:
        tag = tag_of(fate)
        if tag not in tags:
            tags.append(tag)
        tag_at.append(tags.index(tag))
    letters = "".join(LETTERS[fate.kind] for fate in assembly.fates)
    return {
        "letters": letters,
        "to": [f.contents[0] if f.contents else -1 for f in assembly.fates],
        "tag": tag_at,
        "tags": tags,
    }


def picture(assembly: Any, events: Sequence[Sequence[Any]], opened: Iterable[int] = (), own: Any = None) -> Json:
    """The picture of an assembly made with `passes=True`; `events` are the rows of the session's events.

    `opened` are the first events of turns to be shown event by event; `own` is the run's own assembly, to be compared.

        rows   [first, end, fate, pass, contents, steps, tag, differs, bars, opened turn or -1]
        items  [key, rows it comes from, role, kind, text or None, context, contents in it, calls, answers, step or -1]
        lists  after each pass: positions in `items`
        steps  [pass, rule, go, why, go file]
    """
    return _Picture(assembly, events, set(opened), own).message()


class _Picture:
    def __init__(self, assembly: Any, events: Sequence[Sequence[Any]], opened: set[int], own: Any) -> None:
        self.assembly, self.events, self.opened, self.own = assembly, events, opened, own
        self.fates = assembly.fates
        self.steps: dict[tuple[Any, ...], int] = {}
        self.items: dict[tuple[Any, ...], int] = {}
        self.rows: list[list[Any]] = []
        self.row_of: list[int] = []
        self.folded: list[bool] = []
        self.summary_of: dict[int, list[int]] = {}
        for event, by in assembly.ledger.covered.items():
            for position in by:
                self.summary_of.setdefault(position, []).append(event)
        self.told = {f.event for f in self.fates if f.kind == "reworded" and f.reasons[0].stage == "foreign"}

    def message(self) -> Json:
        self._rows()
        self.folded = [end - first > 1 for first, end, *_ in self.rows]
        texts = _memo(self._text_of)
        lists: list[list[int]] = []
        sizes: list[int] = []
        before: Any = None
        for k, snapshot in enumerate(self.assembly.passes):
            same = k not in self._told_anew() and snapshot.records == before
            lists.append(lists[-1] if same else self._list(k, snapshot.records, texts))
            sizes.append(len(snapshot.records))
            before = snapshot.records
        final = self._final()
        lists.append(self._list(LAST, final, texts))
        sizes.append(len(final))
        sizes[0] = len(self.fates)
        tally: dict[str, int] = {}
        for fate in self.fates:
            kind = fate.kind.replace("left_out", "out")
            tally[kind] = tally.get(kind, 0) + 1
        if self.assembly.added:
            tally["added"] = len(self.assembly.added)
        return {
            "rows": self.rows,
            "steps": [list(step) for step in self.steps],
            "items": [list(item) for item in self.items],
            "lists": lists,
            "sizes": sizes,
            "marks": self._marks(sizes),
            "tally": tally,
            "off": self._differing() if self.own is not None else -1,
        }

    # ---- left

    def _rows(self) -> None:
        for i, end, may_fold in self._segments():
            if not may_fold:
                self._one_by_one(i, end, -1)
            elif i in self.opened:
                self._one_by_one(i, end, i)
            else:
                self._folded(i, end)

    def _segments(self) -> list[tuple[int, int, bool]]:
        """Stretches of events, and whether each is a row of its own: a turn, several turns, or what is gone at once."""
        n = len(self.fates)
        if n <= FOLD_ABOVE:
            return [(0, n, False)] if n else []
        turns: list[tuple[int, int, bool]] = []
        i = 0
        while i < n:
            end = self._turn_end(i)
            may_fold = end < n and end > i + 1
            gone = may_fold and self._gone(i, end)
            if gone and turns and turns[-1][2] and turns[-1][1] == i and self._gone(*turns[-1][:2]):
                turns[-1] = (turns[-1][0], end, True)
            else:
                turns.append((i, end, may_fold))
            i = end
        together = -(-sum(t[2] for t in turns) // MOST_ROWS)
        return turns if together < 2 else _joined(turns, together)

    def _turn_end(self, i: int) -> int:
        """Where the turn of an event ends; a stored summary keeps a row of its own."""
        n, end = len(self.fates), i + 1
        if self.events[i][KIND] == "summary":
            return end
        turn = self.events[i][TURN]
        while end < n and self.events[end][TURN] == turn and self.events[end][KIND] != "summary":
            end += 1
        return end

    def _gone(self, i: int, end: int) -> bool:
        return all(f.kind in ("summarised", "left_out") for f in self.fates[i:end])

    def _one_by_one(self, i: int, end: int, opened: int) -> None:
        for k in range(i, end):
            fate = self.fates[k]
            reasons = [r for r in fate.reasons if r.rule != AS_IT_IS]
            deciding = PASS_OF_STAGE.get(fate.reasons[0].stage, 0) if fate.kind != "kept" else 0
            steps = [self._step(r.stage, r.rule, r.why) for r in reasons]
            self.row_of.append(len(self.rows))
            kind, to = fate.kind.replace("left_out", "out"), list(fate.contents)
            self.rows.append([k, k + 1, kind, deciding, to, steps, tag_of(fate), self._differs(k), "", opened])

    def _folded(self, i: int, end: int) -> None:
        fates = self.fates[i:end]
        kinds = {f.kind for f in fates}
        look = next((k for k in ("kept", "summarised", "reworded", "merged", "moved") if k in kinds), "out")
        bars = min(end - i, 60)
        letters = "".join(LETTERS[fates[k * (end - i) // bars].kind] for k in range(bars))
        to = sorted({c for f in fates for c in f.contents})
        differs = any(self._differs(k) for k in range(i, end))
        self.row_of += [len(self.rows)] * (end - i)
        self.rows.append([i, end, look, 0, to, [], "", differs, letters, -1])

    def _step(self, stage: str, rule: str, why: str) -> int:
        step = step_of(stage, rule, clean_text(why))
        return self.steps.setdefault((step.passed, rule, step.go, step.why, step.go_file), len(self.steps))

    def _told_anew(self) -> set[int]:
        """The passes behind which items are told in other words, though the list may be the same."""
        foreign = {PASS_OF_STAGE["foreign"]} if self.told else set()
        return foreign | ({PASS_OF_STAGE["summaries"]} if self.summary_of else set())

    def _differs(self, i: int) -> bool:
        return self.own is not None and (i >= len(self.own.fates) or self.own.fates[i].kind != self.fates[i].kind)

    def _differing(self) -> int:
        return sum(self._differs(i) for i in range(len(self.fates)))

    # ---- right

    def _final(self) -> list[tuple[Any, ...]]:
        """The contents as records: (events, role, kind, content, step)."""
        sent = self.assembly.ledger.sent
        added = {a.content: self._step("additions", a.rule, a.why) for a in self.assembly.added}
        emitted = iter(self.assembly.passes[-1].records)  # asked for roles, so that no content is copied for its own
        out: list[tuple[Any, ...]] = []
        for j in range(len(self.assembly.contents)):
            whose = sent[j] if j < len(sent) else None
            stems = (whose,) if isinstance(whose, int) else whose or ()
            role = next(emitted).role if whose is not None else self.assembly.contents[j].role or ""
            out.append((stems, role, "", j, added.get(j)))
        return out

    def _list(self, k: int, records: Sequence[tuple[Any, ...]], texts: Callable[[int], tuple[bool, str]]) -> list[int]:
        """One working list: records of a folded row become one item together, where the first of them stands."""
        order: dict[Any, list[Any]] = {}
        row_of, folded = self.row_of, self.folded
        for record in records:
            stems = record[0]
            row = row_of[stems[0]] if stems and stems[0] >= 0 else -1
            if row >= 0 and folded[row]:
                item = order.get(-1 - row)
                if item is None:
                    order[-1 - row] = [{row}, record[1], "", None, False, 1, (), (), -1]
                else:
                    item[5] += 1
                continue
            key = str(stems[0]) if stems else f"a{record[3]}"
            while key in order:
                key += "'"
            order[key] = self._item(k, [s for s in stems if s >= 0], texts, *record[1:])
        found = []
        for at, (rows, *rest) in order.items():
            key = at if isinstance(at, str) else f"u{self.rows[-1 - at][0]}"
            found.append(self.items.setdefault((key, tuple(sorted(rows)), *rest), len(self.items)))
        return found

    def _item(
        self,
        k: int,
        own: list[int],
        texts: Callable[[int], tuple[bool, str]],
        role: str,
        kind: str,
        content: int = -1,
        added: int | None = None,
    ) -> list[Any]:
        event = self.events[own[0]] if own else None
        told = bool(own) and own[0] in self.told and k >= PASS_OF_STAGE["foreign"]
        merged = len(own) > 1
        if content < 0 and (told or merged) and self.fates[own[0]].contents:
            content = self.fates[own[0]].contents[0]
        context, text = texts(content) if content >= 0 else (False, None)
        shown_kind = "text" if told or event is None else "response" if kind == "response" else event[KIND]
        calls = () if told else _union(self.events[i][CALLS] for i in own)
        answers = () if told else _union(self.events[i][ANSWERS] for i in own)
        step = -1 if added is None else added
        return [self._rows_of(own, k), clean_text(role), shown_kind, text, context or told, 1, calls, answers, step]

    def _rows_of(self, own: Iterable[int], k: int) -> set[int]:
        """The rows that an item comes from; a summary comes from all that it covers as well."""
        events = set(own)
        if k >= PASS_OF_STAGE["summaries"]:
            events |= {e for i in own for e in self.summary_of.get(i, ())}
        return {self.row_of[e] for e in events}

    def _text_of(self, content: int) -> tuple[bool, str]:
        parts = brief.parts_of(to_json(self.assembly.contents[content]))
        context = bool(parts) and parts[0].get("text") == "For context:"
        return context, brief.parts({"parts": parts[1:] if context else parts})

    def _marks(self, sizes: list[int]) -> list[Any]:
        """What each pass did, in a few characters and in words; None for nothing."""
        touched = touched_by(self.fates)
        marks: list[Any] = []
        for k in range(1, LAST + 1):
            gone = sizes[k - 1] - sizes[k]
            words = f"{brief.plural(len(touched[k]), 'event')} touched"
            if k == LAST and self.assembly.added:
                n = len(self.assembly.added)
                marks.append([f"+{n}", f"{n} added"])
            elif gone > 0:
                marks.append([f"−{gone:,}", words])
            else:
                marks.append([f"{len(touched[k]):,}", words] if touched[k] else None)
        return marks


def _joined(turns: Sequence[tuple[int, int, bool]], together: int) -> list[tuple[int, int, bool]]:
    """Neighbouring turns that may fold, so many of them in one row."""
    out: list[tuple[int, int, bool]] = []
    held = 0
    for i, end, may_fold in turns:
        if may_fold and held and held < together:
            out[-1] = (out[-1][0], end, True)
            held += 1
        else:
            out.append((i, end, may_fold))
            held = 1 if may_fold else 0
    return out


def _union(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(x for xs in lists for x in xs))


def _memo(function: Callable[[int], tuple[bool, str]]) -> Callable[[int], tuple[bool, str]]:
    known: dict[int, tuple[bool, str]] = {}

    def remembered(key: int) -> tuple[bool, str]:
        if key not in known:
            known[key] = function(key)
        return known[key]

    return remembered
