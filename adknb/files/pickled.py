"""Pickled actions of old databases, as plain data: no class of the pickle is ever imported, nothing in it ever runs.

An unpickler of our own meets each class the pickle names with a stand-in that only keeps what it is given. Plain kinds
of Python's own are made; whatever else it names (a function, a module's object) is refused. Used only if the reader of
the file says `trust=True`: a pickle can still be made to take much memory.

Source: google-adk 2.13, sessions/_restricted_pickle.py, events/event_actions.py.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from adknb.engine.errors import BadData
from adknb.json_text import DEPTH

LARGEST = 16 << 20
"""More bytes than this are no event's actions."""

MOST = 1_000_000
"""More values than this are not made of one pickle."""


class StandIn:
    """What the pickle made of a class: its arguments and its state, kept and not used."""

    def __new__(cls, *args: Any, **kwargs: Any) -> StandIn:
        """Take whatever the class was made of."""
        made = object.__new__(cls)
        made.args = args
        made.state = {}
        return made

    args: tuple[Any, ...]
    state: Any

    def __setstate__(self, state: Any) -> None:
        """Keep the state."""
        self.state = state


def _bytes(data: Any = b"", *more: Any) -> bytes:
    """Bytes of bytes; of a number they would be as many zeros."""
    if not isinstance(data, (bytes, bytearray)):
        raise pickle.UnpicklingError("it makes bytes of something else")
    return bytes(data)


PLAIN: dict[tuple[str, str], Any] = {
    **{("builtins", kind.__name__): kind for kind in (dict, list, set, frozenset, tuple, str, int, float, bool)},
    ("builtins", "bytes"): _bytes,
    ("builtins", "bytearray"): _bytes,
    ("collections", "OrderedDict"): dict,
    ("collections", "defaultdict"): lambda *args: {},
    ("copyreg", "_reconstructor"): lambda cls, base, state: cls(),
}
"""Python's own kinds that may be made, by module and name."""

KEPT = ("google.adk.", "google.genai.", "fastapi.openapi.", "pydantic.", "datetime.", "decimal.", "uuid.", "pathlib.")
"""Where the classes come from that stand-ins stand for."""


class _Unpickler(pickle.Unpickler):
    """Knows no class but those above."""

    def find_class(self, module: str, name: str) -> Any:
        """A stand-in, or one of Python's plain kinds. Raises UnpicklingError for anything else."""
        if (module, name) in PLAIN:
            return PLAIN[module, name]
        is_class = name[:1].isupper() or module == "datetime"
        if is_class and name.isidentifier() and f"{module}.".startswith(KEPT):
            return type(name, (StandIn,), {"__module__": module})
        raise pickle.UnpicklingError(f"it names {module}.{name}, which is no plain data")

    def persistent_load(self, pid: Any) -> Any:
        """There are no objects outside. Raises UnpicklingError."""
        raise pickle.UnpicklingError("it refers to an object outside of it")


def actions_of(data: bytes, where: str) -> dict[str, Any]:
    """The actions in a pickle, as JSON.

    Raises:
        BadData: it cannot be read, or holds more than plain data.
    """
    if len(data) > LARGEST:
        raise BadData(where, f"a pickle of {len(data)} bytes is no event's actions")
    try:
        value = _as_json(_Unpickler(io.BytesIO(data)).load(), [MOST], 0)
    except BadData as error:
        raise BadData(where, error.message) from None
    except RecursionError:
        raise BadData(where, f"nested deeper than {DEPTH} levels") from None
    except MemoryError:
        raise BadData(where, "the pickle asks for more memory than there is") from None
    except Exception as error:  # a damaged pickle fails in many ways
        raise BadData(where, f"the pickle cannot be read: {error or type(error).__name__}") from None
    if not isinstance(value, dict):
        raise BadData(where, f"expected pickled actions, found {type(value).__name__}")
    return {key: item for key, item in value.items() if item is not None}


def _as_json(value: Any, left: list[int], depth: int) -> Any:
    left[0] -= 1
    if left[0] < 0:
        raise BadData("", f"unfolds to more than {MOST} values")
    if depth > DEPTH:
        raise BadData("", f"nested deeper than {DEPTH} levels")
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, StandIn):
        return _of_stand_in(value, left, depth)
    if isinstance(value, dict):
        return {str(_as_json(k, left, depth + 1)): _as_json(v, left, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_json(item, left, depth + 1) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((_as_json(item, left, depth + 1) for item in value), key=repr)
    if isinstance(value, (bytes, bytearray)):
        import base64

        return base64.b64encode(bytes(value)).decode()
    raise BadData("", f"a {type(value).__name__} is no plain data")


def _of_stand_in(value: StandIn, left: list[int], depth: int) -> Any:
    """A record as its fields; an enum as its value; a date or a number as a text of what it was made of."""
    state = value.state
    if isinstance(state, dict) and "__dict__" in state:  # pydantic's way
        fields = state["__dict__"]
        return _as_json(fields if isinstance(fields, dict) else {}, left, depth + 1)
    if isinstance(state, dict) and state:
        return _as_json(state, left, depth + 1)
    if value.args and isinstance(value.args[0], bytes) and type(value).__module__ == "datetime":
        return _date(*value.args)
    args = [_as_json(arg, left, depth + 1) for arg in value.args]
    return args[0] if len(args) == 1 else args


def _date(data: bytes, zone: Any = None) -> str:
    """The bytes that Python's dates are pickled as; a time of day alone is rare, and stays bytes."""
    if len(data) not in (4, 10):
        return data.hex()
    text = f"{data[0] * 256 + data[1]:04}-{data[2] & 0x7F:02}-{data[3]:02}"
    if len(data) == 10:
        micro = int.from_bytes(data[7:10], "big")
        text += f"T{data[4]:02}:{data[5]:02}:{data[6]:02}" + (f".{micro:06}" if micro else "") + _offset(zone)
    return text


def _offset(zone: Any) -> str:
    """`+02:00` of a timezone, which is made of a timedelta, which is made of days, seconds, microseconds."""
    delta = zone.args[0] if isinstance(zone, StandIn) and zone.args else None
    if not isinstance(delta, StandIn) or len(delta.args) < 2 or not all(isinstance(n, int) for n in delta.args[:2]):
        return ""
    minutes = (delta.args[0] * 86400 + delta.args[1]) // 60
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
