"""Placeholders of instructions (spec/doctor.md, D): keys that are missing, tokens that come out unlike they look."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adknb.engine.event_json import snake
from adknb.engine.go_text import as_go_reads_json, go_value
from adknb.lens.doctor.definitions import WORKFLOWS, Definition, meeting, stands_before, stands_beside
from adknb.lens.doctor.entry import Entry
from adknb.lens.doctor.finding import ERROR, NOTE, WARNING, Sign, name, names, place
from adknb.lens.doctor.session import DoctorSession
from adknb.lens.doctor.templates import Template, Token, tokens

# -------------------------------------------------------------------------------------------------- state-key-unwritten


def state_key_unwritten(session: DoctorSession) -> Iterator[Sign]:
    """A required placeholder's key is never written, only after it is read (late), or not for sure (conditional).

    Given at creation, brought by the message, or left by an earlier member of the sequence, it is fine. One for each
    agent and key.
    Source: spec/doctor.md state-key-unwritten; R3.8
    """
    if session.state is None:
        return
    told: set[tuple[str, str]] = set()
    for template in session.templates:
        for token in tokens(template.text):
            wanted = token.valid and not token.optional and not token.key.startswith("temp:")
            if not wanted or (template.agent, token.key) in told:
                continue
            told.add((template.agent, token.key))
            sign = _unwritten(session, template, token)
            if sign is not None:
                yield sign


def _unwritten(session: DoctorSession, template: Template, token: Token) -> Sign | None:
    key = token.key
    writers = [one for one in session.definitions or () if one.is_llm and one.output_key == key]
    written = session.deltas.get(key, [])
    facts: dict[str, Any] = {
        "agent": template.agent or None,
        "token": token.text,
        "key": key,
        "writers": list(dict.fromkeys([*(one.name for one in writers), *(entry.author for entry in written)])),
    }
    whose = f"The instruction of {name(template.agent)}" if template.agent else "The instruction"
    fails = "a missing key fails the run before the model is asked"
    mend = "Write {" + key + "?} if it may be missing, give it in the initial state, or let its writer run before; "
    if key not in (session.state or {}) and not written and not writers:
        return Sign(
            [],
            facts,
            f"{whose} asks for {name(key)} with {token.text}, which nothing writes: {fails}.",
            mend + "a text with braces of its own belongs into an instruction provider.",
            case="never",
            severity=ERROR,
        )
    if (key in (session.state or {}) and not written) or key.startswith(("app:", "user:")):
        return None
    if _is_late(session, template, writers, written):
        who = names(one.name for one in writers)
        return Sign(
            [entry.at for entry in written[:1]],
            facts,
            f"{whose} asks for {name(key)}, and {who} writes it only afterwards: {fails}.",
            mend + "or change the order of the agents.",
            case="late",
            severity=ERROR,
        )
    by_tools = [entry for entry in written if entry.responses]
    by_chance = [one for one in writers if one is not template.definition and _by_a_model(one, template.definition)]
    if (by_tools or by_chance) and not _surely_written(session, template, writers, written):
        what = "a tool writes" if by_tools else f"{names(one.name for one in by_chance)} writes"
        return Sign(
            [entry.at for entry in by_tools],
            facts,
            f"{whose} asks for {name(key)}, which {what} if a model happens to call for it; else {fails}.",
            mend + "do not leave it to a model.",
            case="conditional",
            severity=WARNING,
        )
    return None


def _first_asked(session: DoctorSession, template: Template) -> Entry | None:
    """The first model event of the agent whose instruction it is."""
    return next((entry for entry in session.model_events if template.agent in ("", entry.author)), None)


def _is_late(session: DoctorSession, template: Template, writers: list[Definition], written: list[Entry]) -> bool:
    """Whether all who write the key stand after the reader or beside it, and nothing wrote it before it was asked."""
    reader = template.definition
    if reader is None or not writers:
        return False
    if not all(one is reader or stands_before(one, reader) is False or stands_beside(one, reader) for one in writers):
        return False
    asked = _first_asked(session, template)
    if asked is None:
        return all(entry.author == reader.name for entry in written)
    return not any(entry.at < asked.at for entry in written)


def _by_a_model(writer: Definition, reader: Definition | None) -> bool:
    """Whether a writer runs only if a model hands over to it: an LLM agent stands above it, below where they meet."""
    met = meeting(writer, reader) if reader is not None else None
    above = writer.line[:-1] if met is None else [met[0], *met[1][:-1]] if met[1] else []
    return any(one.is_llm for one in above)


def _surely_written(
    session: DoctorSession, template: Template, writers: list[Definition], written: list[Entry]
) -> bool:
    """Whether an earlier member wrote it, reached by workflow agents only, or it came with a message or a hook."""
    reader = template.definition
    if reader is not None and any(_is_sure(one, reader) for one in writers):
        return True
    asked = _first_asked(session, template)
    early = [entry for entry in written if asked is None or entry.at < asked.at]
    return any(entry.by_user or not entry.full for entry in early)


def _is_sure(writer: Definition, reader: Definition) -> bool:
    met = meeting(writer, reader)
    return (
        met is not None and stands_before(writer, reader) is True and all(one.kind in WORKFLOWS for one in met[1][:-1])
    )


# ------------------------------------------------------------------------------------------------- placeholder-surprise


def placeholder_surprise(session: DoctorSession) -> Iterator[Sign]:
    """A token stays as it is (literal), is filled in spite of its braces, prints oddly, or was not filled (unfilled).

    Source: spec/doctor.md placeholder-surprise; R3.4 to R3.10
    """
    told: set[tuple[str, str, str]] = set()
    for template in session.templates:
        for token in tokens(template.text):
            for sign in _surprises(session, template, token):
                if (template.agent, token.text, sign.case) not in told:
                    told.add((template.agent, token.text, sign.case))
                    yield sign
    yield from _unfilled(session)


def _surprises(session: DoctorSession, template: Template, token: Token) -> Iterator[Sign]:
    whose = f"in the instruction of {name(template.agent)}" if template.agent else "in the instruction"
    facts = {"token": token.text, "agent": template.agent or None}
    if not token.valid:
        if not token.artifact and not token.after_dollar and token.looks_meant:
            yield Sign(
                [],
                {**facts, "becomes": token.text},
                f"{token.text} {whose} is no valid placeholder and is sent as it stands.",
                "Rename the key: a letter or _ and then letters, digits and _, behind app:, user: or temp: if need be.",
                case="literal",
                severity=WARNING,
            )
        return
    known = token.key in (session.state or {})
    value = (session.state or {}).get(token.key)
    if token.in_many_braces:
        becomes = _printed(value) if known else None
        yield Sign(
            [],
            {**facts, "becomes": becomes},
            f"{token.text} {whose} is filled all the same: all of its braces belong to the placeholder, there is no "
            "escape.",
            "Let an instruction provider give the text if braces are to stay.",
            case="braces",
            severity=WARNING,
        )
    if known and _prints_oddly(value):
        yield Sign(
            [],
            {**facts, "becomes": _printed(value)},
            f"{token.text} {whose} comes out as Go prints the value: {_printed(value)}",
            "Store the text that the model is to read.",
            case="prints",
            severity=NOTE,
        )


def _printed(value: Any) -> str:
    return go_value(as_go_reads_json(value))


def _prints_oddly(value: Any) -> bool:
    """Whether Go prints a value in a way of its own: lists, maps, very large and very small numbers."""
    if isinstance(value, (list, dict)):
        return True
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and (abs(value) >= 1e6 or 0 < abs(value) < 1e-4)


def _unfilled(session: DoctorSession) -> Iterator[Sign]:
    """Tokens that a request was sent with though their key is in the state."""
    found: dict[tuple[str, str], list[int]] = {}
    for sent in session.sent:
        text = _system_text(sent.config)
        for token in tokens(text):
            if token.valid and token.key in (session.state or {}):
                places = found.setdefault((sent.agent, token.text), [])
                if sent.event is not None and sent.event not in places:
                    places.append(sent.event)
    for (agent, text), places in found.items():
        yield Sign(
            places,
            {"token": text, "agent": agent or None, "becomes": text},
            f"The request answered by {place(places)} was sent with {text} as it stands, though the key is in the "
            "state: the texts of instruction providers are not filled.",
            "Fill the text in the provider, or give it as a static instruction.",
            case="unfilled",
            severity=WARNING,
        )


def _system_text(config: dict[str, Any] | None) -> str:
    """The system instruction of a config: a text, a content, a part, or a list of these."""
    given = {snake(key): value for key, value in (config or {}).items()}.get("system_instruction")
    return "\n".join(_texts_in(given))


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts_in(item)
    elif isinstance(value, dict):
        yield from _texts_in(value.get("text"))
        yield from _texts_in(value.get("parts"))
