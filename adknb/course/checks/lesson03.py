"""Check of lesson 03: who sees whose branch."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from adknb.course.verdict import Verdict, compare
from adknb.engine.processors.contents.filter import event_belongs_to_branch

VIEWERS = ("", "shop", "shop.till", "shop.till_2", "shop.till.night")
EVENTS = ("", "shop", "shop.till", "shop.till_2", "shop.till.night", "sho", "shop.ti", "till")


def check_visible(visible: Callable[[str, str], bool]) -> Verdict:
    """03: `visible(viewer_branch, event_branch)` on 40 pairs, empty and look-alike names among them."""
    pairs = itertools.product(VIEWERS, EVENTS)
    return compare(visible, [(pair, event_belongs_to_branch(*pair)) for pair in pairs], "pairs", "visible")
