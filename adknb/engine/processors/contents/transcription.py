"""Speech as text (R5.14; seed 000, 四.2.5).

A live session stores what was heard and spoken in pieces, as transcriptions of events without content.
"""

from __future__ import annotations

from adknb.engine.copies.frozen import text_part
from adknb.engine.processors.contents.fates import ALSO, LEFT_OUT, MERGED, REWORDED, Because, Ledger
from adknb.engine.processors.contents.records import Changed, Record, Viewer

STAGE = "transcription"
AS_TEXT = Because(STAGE, "R5.14", "it has no content: the text of its transcription is sent")
JOINED = Because(STAGE, "R5.14", "its transcription is joined with those of {}")
LOST = Because(STAGE, "R5.14", "its transcription waits for a later event of its kind without parts, and none comes")
ONLY_INPUT = Because(STAGE, "R5.14", "of its two transcriptions only the input counts")


def join_transcriptions(records: list[Record], viewer: Viewer, ledger: Ledger) -> list[Record]:
    """Turn transcriptions into contents: input as role user, output as role model, pieces joined without separator.

    A piece waits as long as the next event brings another of its kind. An event with parts passes even when it has a
    transcription too; then the waiting text jumps over it, or is lost.

    in "a ", in "b", out "x", out "y" -> user "a b", model "xy"
    in "a", {text "T", in "t"}, in "c" -> user "T", user "ac"

    Go: internal/llminternal/contents_processor.go, buildContentsDefaultWithCallSource
    """
    if all(record.parts for record in records):
        return records
    heard, spoken = _Pending("user"), _Pending("model")
    out = []
    for record, following in zip(records, [*records[1:], None], strict=True):
        if record.parts:
            out.append(record)
        elif record.heard:
            heard.add(record, record.heard)
            if record.spoken:
                ledger.note(record.at, ALSO, ONLY_INPUT)
            if following is None or not following.heard:
                out.append(heard.take(ledger))
        elif record.spoken:
            spoken.add(record, record.spoken)
            if following is None or not following.spoken:
                out.append(spoken.take(ledger))
        else:
            out.append(record)
    for record in heard.pieces + spoken.pieces:
        ledger.note(record.at, LEFT_OUT, LOST)
    return out


class _Pending:
    """The pieces of one kind that wait to be sent together."""

    def __init__(self, role: str) -> None:
        self.role = role
        self.pieces: list[Record] = []
        self.text = ""

    def add(self, record: Record, text: str) -> None:
        self.pieces.append(record)
        self.text += text

    def take(self, ledger: Ledger) -> Record:
        """One record for all of them, in the place of the last."""
        stems = tuple(record.at for record in self.pieces)
        for at in stems:
            ledger.note(at, REWORDED, AS_TEXT)
            if len(stems) > 1:
                ledger.note(at, MERGED, JOINED, tuple(other for other in stems if other != at))
        last = self.pieces[-1]
        joined = Changed(last, [text_part(self.text)], role=self.role, reworded=True, shared_by=stems)
        self.pieces, self.text = [], ""
        return joined
