"""Present mode is a style and a sentence; a size that is none is refused."""

from __future__ import annotations

import re

import pytest

from adknb.course import present
from adknb.engine.errors import BadData


@pytest.mark.parametrize("scale, says", [(1, "the usual size"), (1.5, "1.5 times"), (2, "2 times")])
def test_it_is_so_many_times_as_large(scale, says):
    html = present(scale)._repr_html_()
    assert re.findall(r"zoom: ([\d.]+)", html) == [f"{scale:g}"] and repr(present(scale)).startswith(says)


@pytest.mark.parametrize("scale", [0, 0.9, 3.1, -1, float("nan"), True, "2", None])
def test_another_size_is_refused(scale):
    with pytest.raises(BadData, match="expected a number from 1 to 3"):
        present(scale)
