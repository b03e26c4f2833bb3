"""The event table as a pandas DataFrame: what a Recording and a Stepper both give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adknb.engine.errors import AdknbError
from adknb.engine.event import Event
from adknb.lens.table import event_table

if TYPE_CHECKING:
    import pandas


def event_frame(events: Sequence[Event]) -> pandas.DataFrame:
    """One row an event, indexed by its position; the columns are those of `event_table`, lists as texts.

    Raises:
        AdknbError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise AdknbError("a table needs pandas, which comes with the extra: pip install 'adknb[lab]'") from None
    columns = list(event_table([Event()])[0])  # the same columns for a session without events
    rows = [{k: ", ".join(v) if isinstance(v, list) else v for k, v in row.items()} for row in event_table(events)]
    return pandas.DataFrame(rows, columns=columns).set_index("index")
