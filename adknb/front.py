"""What a screen shows of a run: small filters over its stream of events, to be put one behind the other.

    events = runner.run("Draw a login flow.", run_config=RunConfig("sse"))
    for line in sse(through(events, only_author("drawAgent"), without_duplicate_final, XmlAssembler())):
        response.write(line)

A filter takes events and yields events, one by one as they come; it never writes to one. Filters are for the screen:
what they hold back is stored and writes its output key all the same. The order matters: first whose words, then which
of them twice, then the XML (spec/streaming.md §15).

At the end stand the forms that seed 003 gives, as faults to compare with: `one_flag` and `OneDocument`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from google.genai import types

from adknb.engine.event import Event, parts_of, visible_text_of

Filter = Callable[[Iterable[Event]], Iterator[Event]]
Answer = tuple[str, str, str]
"""Whose answer an event belongs to: invocation, author, branch."""


def through(events: Iterable[Event], *filters: Filter) -> Iterator[Event]:
    """The events through all filters, in order: `through(events, only_author("a"), without_duplicate_final)`."""
    stream = iter(events)
    for each in filters:
        stream = each(stream)
    return stream


def shown(events: Iterable[Event]) -> str:
    """What a screen that writes every event's text behind the last one holds in the end. Thoughts are not shown.

    Of a stream without filters: an answer that came in chunks stands there twice.
    """
    return "".join(visible_text_of(event.content) for event in events)


# -------------------------------------------------------------------------------------------------------- by author


def only_author(*names: str) -> Filter:
    """A filter that lets events of these authors pass: `only_author("drawAgent")`.

    A sequence yields the events of every member; that is its nature and no mistake (seed 003).
    """

    def by_author(events: Iterable[Event]) -> Iterator[Event]:
        return (event for event in events if event.author in names)

    return by_author


# ---------------------------------------------------------------------------------------------- the answer said twice


def without_duplicate_final(events: Iterable[Event]) -> Iterator[Event]:
    """Drop from a complete answer what its chunks have shown already; drop the answer if nothing else is in it.

    A "a c", "at" as chunks, A "a cat" whole       -> the chunks alone
    chunk "Look: ", whole "Look: " + call          -> the chunk, then the call
    chunk "Hel", whole "Hello"                     -> the chunk, then "lo"
    an error, or a whole answer without chunks     -> as it is

    It remembers by author, branch and invocation, and forgets at every complete event: two agents in a row, a tool
    round in between and agents side by side come out right. Seed 003's own filter does not: see `one_flag`.

    Source: spec/streaming.md §15, 8 and 9.
    """
    seen: dict[Answer, dict[bool, str]] = {}
    for event in events:
        if event.author == "user":
            seen.clear()
        answer = (event.invocation_id, event.author, event.branch)
        if event.partial:
            texts = seen.setdefault(answer, {False: "", True: ""})
            for part in parts_of(event.content):
                if part is not None and part.text:
                    texts[bool(part.thought)] += part.text
            yield event
            continue
        texts = seen.pop(answer, {})
        if not any(texts.values()):
            yield event
            continue
        left = [new for part in parts_of(event.content) if (new := _not_seen(part, texts)) is not None]
        if left or event.error_code or event.error_message or event.interrupted:
            yield _with_parts(event, left)


def _not_seen(part: types.Part, texts: dict[bool, str]) -> types.Part | None:
    """What is new in a part of the complete answer; takes what was seen out of `texts`."""
    if part is None or not part.text:
        return part
    is_thought = bool(part.thought)
    seen = texts[is_thought]
    if seen.startswith(part.text):
        texts[is_thought] = seen[len(part.text) :]
        return None
    if seen.endswith(part.text):  # chunks of an earlier answer that broke off stand in front
        texts[is_thought] = ""
        return None
    if seen and part.text.startswith(seen):
        texts[is_thought] = ""
        return part.model_copy(update={"text": part.text[len(seen) :]})
    return part


def _with_parts(event: Event, parts: list[types.Part]) -> Event:
    before = parts_of(event.content)
    if event.content is None or (len(parts) == len(before) and all(a is b for a, b in zip(parts, before, strict=True))):
        return event
    return replace(event, content=types.Content(role=event.content.role, parts=parts))


# ------------------------------------------------------------------------------------------------------------- XML


class XmlAssembler:
    """Lets nothing pass but XML documents, each as it grows: from `<mxfile` to its end, whatever stands around it.

        xml = XmlAssembler()
        xml.accept("Sure. <mx")      -> []
        xml.accept("file><a/>")      -> ["<mxfile><a/>"]
        xml.accept("</mxfile> So.")  -> ["</mxfile>"]

    As a filter of events (`XmlAssembler()(events)`) it takes the visible texts of an answer, and yields events with the
    XML alone; a new answer starts anew. Put `without_duplicate_final` in front, or chunks and whole give it twice.

    `tag` is the root element's name. With `xml_only` off, text passes until the first document begins.

    Source: spec/streaming.md §15, 12.
    """

    def __init__(self, tag: str = "mxfile", xml_only: bool = True) -> None:
        self.tag, self.xml_only = tag, xml_only
        self.opens, self.closes = f"<{tag}", f"</{tag}>"
        self.restart()

    def restart(self) -> None:
        """Forget what came: the next text begins a new answer."""
        self._held = ""
        """Text that may be the beginning of the tag; inside a document, the tail that may be that of its end."""
        self._inside = False
        self._head: str | None = None
        """The opening tag as far as it came; None outside of it."""
        self._had_one = False

    def accept(self, text: str) -> list[str]:
        """The pieces to send now that this text has come."""
        pieces: list[str] = []
        while text:
            text = self._in_document(text, pieces) if self._inside else self._before_document(text, pieces)
        return [piece for piece in pieces if piece]

    def close(self) -> list[str]:
        """What is left when the answer is over: text that might have been a tag, if not only XML is wanted."""
        left = [] if self.xml_only or self._inside or self._had_one or not self._held else [self._held]
        self.restart()
        return left

    def __call__(self, events: Iterable[Event]) -> Iterator[Event]:
        """The filter; see the class. Each answer has an assembler of its own. Events without text pass as they are."""
        running: dict[Answer, tuple[XmlAssembler, Event]] = {}
        for event in events:
            answer = (event.invocation_id, event.author, event.branch)
            text = visible_text_of(event.content)
            others = [part for part in parts_of(event.content) if part is not None and not part.text]
            if text:
                xml = running[answer][0] if answer in running else type(self)(self.tag, self.xml_only)
                running[answer] = xml, event
                pieces = xml.accept(text)
                if pieces or others:
                    yield _saying(event, "".join(pieces), others)
            else:
                yield event
            if not event.partial and answer in running:
                yield from _rest(*running.pop(answer))
        for xml, event in running.values():
            yield from _rest(xml, event)

    def _before_document(self, text: str, pieces: list[str]) -> str:
        """Look for the opening tag, which may be split; gives what is left to look at."""
        text, self._held = self._held + text, ""
        at = text.find(self.opens)
        if at < 0:
            keep = _overlap(text, self.opens)
            self._held = text[len(text) - keep :]
            self._outside(text[: len(text) - keep], pieces)
            return ""
        self._outside(text[:at], pieces)
        self._inside, self._had_one, self._head = True, True, ""
        pieces.append(self.opens)
        return text[at + len(self.opens) :]

    def _outside(self, text: str, pieces: list[str]) -> None:
        if not self.xml_only and not self._had_one:
            pieces.append(text)

    def _in_document(self, text: str, pieces: list[str]) -> str:
        """Send it on up to the document's end; gives what stands behind that."""
        if self._head is not None:
            return self._in_opening_tag(text, pieces)
        whole = self._held + text
        at = whole.find(self.closes)
        if at < 0:
            self._held = whole[-(len(self.closes) - 1) :]
            pieces.append(text)
            return ""
        end = at + len(self.closes) - len(self._held)
        pieces.append(text[:end])
        self._end()
        return text[end:]

    def _in_opening_tag(self, text: str, pieces: list[str]) -> str:
        """Find the `>` that ends the opening tag, outside of quotes; `/>` ends the document too."""
        assert self._head is not None
        quote = self._open_quote(self._head)
        for at, char in enumerate(text):
            if quote:
                quote = "" if char == quote else quote
            elif char in "\"'":
                quote = char
            elif char == ">":
                empty = (self._head + text[:at]).endswith("/")
                pieces.append(text[: at + 1])
                self._head = None
                if empty:
                    self._end()
                return text[at + 1 :]
        self._head += text
        pieces.append(text)
        return ""

    @staticmethod
    def _open_quote(head: str) -> str:
        quote = ""
        for char in head:
            quote = ("" if char == quote else quote) if quote else char if char in "\"'" else ""
        return quote

    def _end(self) -> None:
        self._inside, self._held, self._head = False, "", None


def _rest(xml: XmlAssembler, event: Event) -> Iterator[Event]:
    """What an assembler has left when its answer is over, as an event like the answer's last."""
    for text in xml.close():
        yield _saying(event, text, [])


def _overlap(text: str, marker: str) -> int:
    """How many characters at the end of a text are a beginning of the marker: `ab<mx`, `<mxfile` -> 3."""
    return next((n for n in range(min(len(marker) - 1, len(text)), 0, -1) if text.endswith(marker[:n])), 0)


def _saying(event: Event, text: str, others: list[types.Part]) -> Event:
    parts = [*([types.Part(text=text)] if text else []), *others]
    role = event.content.role if event.content is not None else "model"
    return replace(event, content=types.Content(role=role, parts=parts))


# ------------------------------------------------------------------------------------------------ server-sent events


def sse(events: Iterable[Event]) -> Iterator[str]:
    r"""The events as server-sent events: `data: {the event's JSON}` and an empty line, as ADK's API server sends them.

    An error of the run is raised, when it comes.
    """
    for event in events:
        text = json.dumps(event.to_json(), ensure_ascii=False, separators=(",", ":"))
        yield f"data: {_encodable(text)}\n\n"  # one line: JSON has its line breaks escaped


def _encodable(text: str) -> str:
    """Half a surrogate pair, cut off by whoever made the text, as an escape: it has no bytes in UTF-8."""
    return "".join(char if not "\ud800" <= char <= "\udfff" else f"\\u{ord(char):04x}" for char in text)


# ------------------------------------------------------------------------------ as seed 003 has them: faults to compare


def one_flag(events: Iterable[Event]) -> Iterator[Event]:
    """FAULTY: seed 003's filter of duplicates. One flag for the whole run, set at the first chunk, never reset.

    After a first agent that streamed, a later one's answer without chunks is silenced, and so is an error that ends an
    answer (spec/streaming.md §15, 9). Use `without_duplicate_final`.
    """
    saw_partial = False
    for event in events:
        if event.partial:
            saw_partial = True
        elif saw_partial and event.is_final_response():
            continue
        yield event


class OneDocument:
    """FAULTY: seed 003's XML filter. It looks for the marker in each chunk by itself, once, and for no end.

    A marker split over two chunks is never found; prose behind the document is sent on, and so is whatever stands
    between two documents. Use `XmlAssembler`.
    """

    def __init__(self, tag: str = "mxfile") -> None:
        self.opens = f"<{tag}"
        self.xml_mode = False

    def accept(self, text: str) -> list[str]:
        """The pieces to send now that this text has come."""
        if self.xml_mode:
            return [text]
        at = text.find(self.opens)
        if at < 0:
            return []
        self.xml_mode = True
        return [text[at:]]

    def __call__(self, events: Iterable[Event]) -> Iterator[Event]:
        """The filter of events."""
        for event in events:
            for text in self.accept(visible_text_of(event.content)):
                yield _saying(event, text, [])
