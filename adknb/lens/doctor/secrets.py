"""What looks like a secret: where it lies, so that it can be named, and what it is, so that it is never told.

Forms and names are those of spec/doctor.md, Lists, *key forms* and secret-in-session.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adknb.lens.doctor.entry import Entry, name_of

if TYPE_CHECKING:
    from adknb.lens.doctor.session import DoctorSession

FORMS: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (start, kind, re.compile(form))
    for start, kind, form in (
        ("AIza", "a Google API key", r"AIza[0-9A-Za-z_-]{35}"),
        ("sk-", "an API key", r"\bsk-[A-Za-z0-9_-]{20,}"),
        *((f"gh{c}_", "a GitHub token", rf"\bgh{c}_[A-Za-z0-9]{{20,}}") for c in "pousr"),
        ("github_pat_", "a GitHub token", r"\bgithub_pat_[A-Za-z0-9_]{20,}"),
        ("xox", "a Slack token", r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
        ("AKIA", "an AWS access key", r"\bAKIA[0-9A-Z]{16}\b"),
        ("ya29.", "a Google access token", r"\bya29\.[A-Za-z0-9_-]{20,}"),
        ("eyJ", "a JSON Web Token", r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"),
        ("-----BEGIN", "a private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
        *((word, "a bearer token", rf"\b{word}\s+[A-Za-z0-9._~+/-]{{16,}}") for word in ("Bearer", "bearer")),
        ("://", "a password in an address", r"://[^/\s:@]+:[^/\s:@]+@"),
    )
)
"""How it starts, what it is, and its form. Most texts have no such start, and finding that out is quick."""

STAND_INS = re.compile(
    r"\*\*\*|xxx|<[^<>]*>|\$\{[^}]*\}|\{\{.*?\}\}|env:|vault:|projects/|your[_-]|example|redacted|masked|hidden|changeme"
    r"|placeholder",
    re.IGNORECASE | re.DOTALL,
)
"""What a value holds that only stands for a secret."""

MASK = set("*xX•.-#_")
"""A value of nothing but these is a mask."""

SECRET_NAMES = (
    "password", "passwd", "secret", "apikey", "accesskey", "secretkey", "privatekey",
    "accesstoken", "refreshtoken", "authtoken", "bearertoken", "sessiontoken",
)  # fmt: skip
"""Endings of names, without case and separators, whose values are secrets."""

LONG_NAMES = ("token", "authorization")
"""Names whose values are secrets if they are long: they have other uses."""

_SEPARATORS = str.maketrans("", "", "-_. ")
_PREFIXES = ("app:", "user:", "temp:")
_KEY_BODY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)


@dataclass
class Secret:
    """One value that must not be told. `places` say where it lies, `events` in which events; in the state: none."""

    value: str
    kind: str
    name: str = ""
    places: list[str] = field(default_factory=list)
    events: list[int] = field(default_factory=list)


class Secrets:
    """All secrets of a session, in the order in which they turn up."""

    def __init__(self, session: DoctorSession) -> None:
        self.found: dict[str, Secret] = {}
        for key, value in (session.state or {}).items():
            self._named(key, value, f"state.{key}", None)
        for entry in session.whole:
            self._event(entry)
        self._pattern: re.Pattern[str] | None = None
        if hidden := sorted(self._hidden(), key=len, reverse=True):
            self._pattern = re.compile("|".join(map(re.escape, hidden)))

    def __iter__(self) -> Iterator[Secret]:
        return iter(self.found.values())

    def without(self, text: str) -> str:
        """The text with every secret of this session blotted out, and whatever else has a key's form."""
        if self._pattern is not None:
            text = self._pattern.sub("…", text)
        return _blotted(text)

    def _event(self, entry: Entry) -> None:
        for key, value in entry.delta.items():
            self._named(key, value, f"delta.{key}", entry.at)
        for part in entry.parts:
            if part.text:
                self._text(part.text, "a thought" if part.thought else "the text", "", entry.at)
            if (call := part.function_call) is not None:
                self._value(call.args, f"args of {name_of(call)}", entry.at)
            if (response := part.function_response) is not None:
                self._value(response.response, f"response of {name_of(response)}", entry.at)
        for said in (entry.heard, entry.spoken):
            if said:
                self._text(said, "a transcription", "", entry.at)
        if entry.record is not None and entry.record.compacted_content is not None:
            for part in entry.record.compacted_content.parts or ():
                if part.text:
                    self._text(part.text, "the summary", "", entry.at)

    def _value(self, value: Any, path: str, at: int | None) -> None:
        if isinstance(value, str):
            self._text(value, path, path.rpartition(".")[2], at)
        elif isinstance(value, dict):
            for key, item in value.items():
                self._named(str(key), item, f"{path}.{key}", at)
        elif isinstance(value, (list, tuple)):
            for i, item in enumerate(value):
                self._value(item, f"{path}[{i}]", at)

    def _named(self, key: str, value: Any, path: str, at: int | None) -> None:
        self._text(key, path, "", at)
        if isinstance(value, str) and is_secret_name(key, value):
            self._note(value, "a value under that name", key, path, at)
        else:
            self._value(value, path, at)

    def _text(self, text: str, path: str, name: str, at: int | None) -> None:
        keys = dict(keys_in(text))
        for value, kind in keys.items():
            if not any(value in other for other in keys if other != value):  # a JSON Web Token behind "Bearer" is one
                self._note(value, kind, name, path, at)

    def _note(self, value: str, kind: str, name: str, path: str, at: int | None) -> None:
        secret = self.found.setdefault(value, Secret(value, kind, name))
        where = path if at is None else f"event {at}: {path}"
        if where not in secret.places:
            secret.places.append(where)
        if at is not None and at not in secret.events:
            secret.events.append(at)

    def _hidden(self) -> set[str]:
        """All spellings under which a secret may turn up in a sentence."""
        hidden = set()
        for value in self.found:
            pieces = {value, *_inner(value)}
            hidden |= pieces | {json.dumps(piece, ensure_ascii=False)[1:-1] for piece in pieces}
        return {piece for piece in hidden if len(piece) > 3}


def _inner(value: str) -> Iterator[str]:
    """What is secret of a match even without its surroundings: the bearer's token, the password of an address."""
    if value[:6].lower() == "bearer":
        yield value[6:].strip()
    if value.startswith("://"):
        yield value[3:-1].partition(":")[2]


def keys_in(text: str) -> Iterator[tuple[str, str]]:
    """Everything in a text that has a key's form and is no stand-in, and what it is."""
    for start, kind, form in FORMS:
        at = text.find(start)
        while at >= 0:
            match = form.match(text, at)
            if match is not None and not stands_in(match.group(0)):
                yield match.group(0), kind
            at = text.find(start, match.end() if match is not None else at + 1)


def is_secret_name(name: str, value: str) -> bool:
    """Whether a value is a secret because of the name it stands under."""
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    bare = name.lower().translate(_SEPARATORS)
    least = 6 if bare.endswith(SECRET_NAMES) else 16 if bare in LONG_NAMES else 0
    return 0 < least <= len(value) and not any(c.isspace() for c in value) and not stands_in(value)


def stands_in(value: str) -> bool:
    """Whether a value only stands for a secret: a mask, a reference, an example."""
    return STAND_INS.search(value) is not None or set(value) <= MASK


def _blotted(text: str) -> str:
    if "PRIVATE KEY" in text:
        text = _KEY_BODY.sub("…", text)
    for start, _, form in FORMS:
        if start in text:
            text = form.sub("…", text)
    return text
