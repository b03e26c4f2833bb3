"""The placeholders of an instruction, as the engine reads them (spec/request.md R3.4 to R3.7), and what was meant."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from adknb.engine.processors.instructions import GO_SPACE, SCOPES, TOKEN, is_state_key
from adknb.lens.doctor.definitions import Definition, Definitions

ARTIFACT = "artifact."
LONGEST = 60
"""A longer token is no name that somebody has misspelt."""


@dataclass(frozen=True)
class Token:
    """One placeholder: its text with all of its braces, and the key as R3.5 reads it."""

    text: str
    key: str
    optional: bool
    after_dollar: bool

    @property
    def artifact(self) -> bool:
        """Whether it asks for an artifact (R3.6)."""
        return self.key.startswith(ARTIFACT)

    @property
    def valid(self) -> bool:
        """Whether it is replaced by a state value (R3.7)."""
        return not self.artifact and is_state_key(self.key)

    @property
    def in_many_braces(self) -> bool:
        """Whether two or more braces stand on either side."""
        return self.text.startswith("{{") and self.text.endswith("}}")

    @property
    def looks_meant(self) -> bool:
        """Whether somebody meant an invalid token to be filled (spec/doctor.md, Lists)."""
        return looks_meant(self.text.strip("{}").strip(GO_SPACE))


def tokens(template: str) -> Iterator[Token]:
    """The tokens of a template, in order."""
    for match in TOKEN.finditer(template):
        key = match.group(0).strip("{}").strip(GO_SPACE)
        optional = key.endswith("?")
        before = template[match.start() - 1 : match.start()]
        yield Token(match.group(0), key[:-1] if optional else key, optional, before == "$")


def looks_meant(inner: str) -> bool:
    """Whether an invalid token, without braces and blanks around it, looks like a state key.

    a-b  user.name  team:tone  APP:tone  app: tone  app:user:x, all of them with a `?` too
    name ?  name??  and names that only Python takes
    """
    if not 1 <= len(inner) <= LONGEST:
        return False
    asked = inner.removesuffix("?")
    if _joined(asked) or _other_prefix(asked) or _blank_behind_prefix(asked) or _two_prefixes(asked):
        return True
    name = inner.rstrip("?")
    questions = len(inner) - len(name)
    if questions and is_state_key(name.rstrip()) and (questions > 1 or name != name.rstrip()):
        return True
    return inner.isidentifier() and not is_state_key(inner)


def _name(text: str) -> bool:
    """A letter or `_`, then letters, digits, `_`."""
    return bool(text) and all(
        c == "_" or unicodedata.category(c).startswith("L") or (i > 0 and unicodedata.category(c) == "Nd")
        for i, c in enumerate(text)
    )


def _joined(text: str) -> bool:
    words = text.replace("-", ".").split(".")
    return len(words) > 1 and all(map(_name, words))


def _other_prefix(text: str) -> bool:
    prefix, colon, name = text.partition(":")
    return bool(colon) and prefix.isalpha() and prefix + ":" not in SCOPES and _name(name)


def _blank_behind_prefix(text: str) -> bool:
    prefix, colon, name = text.partition(":")
    return prefix + colon in SCOPES and name != name.lstrip() and _name(name.lstrip())


def _two_prefixes(text: str) -> bool:
    prefix, colon, rest = text.partition(":")
    middle, second, name = rest.partition(":")
    return prefix + colon in SCOPES and bool(second) and _name(middle) and _name(name)


# ----------------------------------------------------------------------------------------------------- whose templates


@dataclass(frozen=True)
class Template:
    """A static instruction and the agent that reads it; no agent where a lone template was given."""

    text: str
    agent: str = ""
    definition: Definition | None = None


def templates(definitions: Definitions | None, lone: str) -> list[Template]:
    """All templates: each LLM agent's own, and the global one of a root (R3.1); without definitions the lone one.

    Under a root that is no LLM agent every agent's own global text counts.
    """
    if definitions is None:
        return [Template(lone)] if lone else []
    found = []
    for one in definitions:
        if one.is_llm:
            texts = (one.global_instruction if one is one.root or not one.root.is_llm else "", one.instruction)
            found += [Template(text, one.name, one) for text in texts if text]
    return found


def reads(definition: Definition) -> list[str]:
    """The templates that an agent's own requests are made of."""
    above = definition.root if definition.root.is_llm else definition
    return [text for text in (above.global_instruction, definition.instruction) if text]


def keys_read(texts: list[str]) -> set[str]:
    """The state keys that templates ask for, optional ones too."""
    return {token.key for text in texts for token in tokens(text) if token.valid}
