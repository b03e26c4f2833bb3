"""The kinds of value a scenario file is made of, each with its check and the name an error gives it.

A kind refuses at the first fault with a BadData that says the file, the line and the JSON path. `format.py` writes the
vocabulary as tables of these.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol, get_args

from pydantic import BaseModel, ValidationError

from adknb.engine.errors import BadData
from adknb.engine.event_json import snake, time_from_json
from adknb.engine.schema import found


@dataclass(frozen=True)
class Place:
    """Where in which file: prints as `scenarios.jsonl:12: agent.tools[0].name`."""

    file: str
    path: str = ""

    def at(self, *steps: str | int) -> Place:
        """A place further in: fields by name, list items by number."""
        path = self.path
        for step in steps:
            path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
        return Place(self.file, path)

    def __str__(self) -> str:
        return f"{self.file}: {self.path}" if self.path else self.file

    def refuse(self, message: str) -> NoReturn:
        """Raise the BadData of this place."""
        raise BadData(str(self), message)


class Kind(Protocol):
    """A kind of value. `check` raises BadData."""

    def check(self, value: Any, place: Place) -> None:
        """Refuse a value that is not of this kind."""


@dataclass(frozen=True)
class Plain:
    """A plain JSON value, told by a test."""

    says: str
    fits: Callable[[Any], bool]

    def check(self, value: Any, place: Place) -> None:
        """See Kind."""
        if not self.fits(value):
            place.refuse(f"expected {self.says}, found {found(value)}")


@dataclass(frozen=True)
class OneOf:
    """One of a few texts."""

    words: tuple[str, ...]

    def check(self, value: Any, place: Place) -> None:
        """See Kind."""
        if not isinstance(value, str) or value not in self.words:
            place.refuse(f"expected {' or '.join(map(repr, self.words))}, found {found(value)}")


@dataclass(frozen=True)
class ListOf:
    """A list whose items are of one kind; `most` limits their number."""

    kind: Kind
    most: int | None = None

    def check(self, value: Any, place: Place) -> None:
        """See Kind."""
        if not isinstance(value, list):
            place.refuse(f"expected a list, found {found(value)}")
        if self.most is not None and len(value) > self.most:
            place.refuse(f"at most {self.most} here, found {len(value)}")
        for i, item in enumerate(value):
            self.kind.check(item, place.at(i))


@dataclass(frozen=True)
class MapOf:
    """An object with any keys, whose values are of one kind."""

    kind: Kind

    def check(self, value: Any, place: Place) -> None:
        """See Kind."""
        for key, item in expect_object(value, place).items():
            self.kind.check(item, place.at(key))


@dataclass(frozen=True)
class Need:
    """A field that must be there."""

    kind: Kind

    def check(self, value: Any, place: Place) -> None:
        """See Kind."""
        self.kind.check(value, place)


@dataclass(frozen=True)
class Record:
    """An object with these fields and no others.

    A record `of_adk` is read as ADK's JSON is: a field may be in snake_case too, and null means that it is not there.
    """

    fields: Mapping[str, Kind]
    of_adk: bool = False

    def check(self, value: Any, place: Place) -> None:
        """See Kind."""
        names = {**{snake(name): name for name in self.fields if self.of_adk}, **{n: n for n in self.fields}}
        given = set()
        for key, item in expect_object(value, place).items():
            if key not in names:
                unknown(place.at(key), key, self.fields)
            if item is None and self.of_adk:
                continue
            self.fields[names[key]].check(item, place.at(key))
            given.add(names[key])
        for name, kind in self.fields.items():
            if isinstance(kind, Need) and name not in given:
                place.refuse(f"{name!r} is missing")


@dataclass(frozen=True)
class ByField:
    """An object whose fields depend on what one of them says: the `type` of an agent."""

    field: str
    kinds: Mapping[str, Kind]

    def check(self, value: Any, place: Place) -> None:
        """See Kind."""
        if self.field not in expect_object(value, place):
            place.refuse(f"{self.field!r} is missing")
        OneOf(tuple(self.kinds)).check(value[self.field], place.at(self.field))
        self.kinds[value[self.field]].check(value, place)


@dataclass(frozen=True)
class ByFlag:
    """An object whose fields depend on a flag in it: `gemini` of a model."""

    flag: str
    when_true: Kind
    otherwise: Kind

    def check(self, value: Any, place: Place) -> None:
        """See Kind."""
        (self.when_true if expect_object(value, place).get(self.flag) is True else self.otherwise).check(value, place)


@dataclass(frozen=True)
class Later:
    """A kind that is named before it exists: an agent holds agents."""

    kind: Callable[[], Kind]

    def check(self, value: Any, place: Place) -> None:
        """See Kind."""
        self.kind().check(value, place)


@dataclass(frozen=True)
class GenAI:
    """A record of google-genai, as its JSON (camelCase, or snake_case)."""

    record: type[BaseModel]

    def check(self, value: Any, place: Place) -> None:
        """See Kind."""
        expect_object(value, place)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # google-genai only warns of a word that an enum does not have
                self.record.model_validate(value)
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            steps, place = fault["loc"], place.at(*fault["loc"])
            if fault["type"] == "extra_forbidden":
                unknown(place, str(steps[-1]), _fields_of(self.record, steps[:-1]))
            place.refuse(f"{fault['msg'].replace('Input should be', 'expected')}, found {found(fault['input'])}")
        except UserWarning as warning:
            place.refuse(str(warning))
        except AttributeError:  # google-genai's enums take anything for a text
            place.refuse("a word is expected somewhere in it where another value stands")


def _fields_of(record: Any, steps: Iterable[int | str]) -> list[str]:
    """The JSON names of the fields of the record that a path leads to; none where the path cannot be followed."""
    for step in steps:
        if isinstance(step, str):
            by_json_name = {f.alias or name: f for name, f in record.model_fields.items()}
            field = by_json_name.get(step) or record.model_fields.get(step)
            record = field and _record_in(field.annotation)
        if record is None:
            return []
    return [f.alias or name for name, f in record.model_fields.items()]


def _record_in(annotation: Any) -> type[BaseModel] | None:
    """The one record inside `Optional[list[Record]]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inside = [record for a in get_args(annotation) if (record := _record_in(a)) is not None]
    return inside[0] if len(inside) == 1 else None


class Time:
    """Seconds since the epoch, or an ISO 8601 text."""

    def check(self, value: Any, place: Place) -> None:
        """See Kind."""
        time_from_json(value, str(place))


def expect_object(value: Any, place: Place) -> dict[str, Any]:
    """The value, if it is an object."""
    if not isinstance(value, dict):
        place.refuse(f"expected an object, found {found(value)}")
    return value


def unknown(place: Place, name: str, known: Iterable[str]) -> NoReturn:
    """Refuse a field, with the known ones and the nearest of them."""
    names = list(known)
    message = "unknown field"
    if names:
        message += f"; known: {', '.join(names)}"
    near = difflib.get_close_matches(name, names, 1)
    if near:
        message += f"; did you mean {near[0]!r}?"
    place.refuse(message)


TEXT = Plain("a text", lambda v: isinstance(v, str))
NAME = Plain("a text that is not empty", lambda v: isinstance(v, str) and v != "")
FLAG = Plain("true or false", lambda v: isinstance(v, bool))
INTEGER = Plain("a whole number", lambda v: isinstance(v, int) and not isinstance(v, bool))
WHOLE = Plain("a whole number from 0", lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= 0)
COUNT = Plain("a whole number from 1", lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= 1)
NUMBER = Plain("a number", lambda v: isinstance(v, (int, float)) and not isinstance(v, bool))
OBJECT = Plain("an object", lambda v: isinstance(v, dict))
ANYTHING = Plain("anything", lambda v: True)
