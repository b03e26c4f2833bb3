"""Stepping an unmodified google-adk agent (extra `adk`). Nothing here imports google-adk before it is used.

The package and its main function have one name, `adknb.attach`; so the module can be called, too.
"""

import sys
from types import ModuleType
from typing import Any

from adknb.attach.adk import MissingSeam, NoGoogleAdk
from adknb.attach.attaching import AttachedStepper, attach
from adknb.attach.convert import from_adk, to_adk
from adknb.attach.translate import Untranslatable
from adknb.attach.versus import Versus, versus
from adknb.attach.watching import Watched, watch

__all__ = [
    "AttachedStepper",
    "MissingSeam",
    "NoGoogleAdk",
    "Untranslatable",
    "Versus",
    "Watched",
    "attach",
    "from_adk",
    "to_adk",
    "versus",
    "watch",
]


class _Attach(ModuleType):
    """This module: importing it puts it in the place of the function in `adknb`."""

    def __call__(self, *args: Any, **given: Any) -> AttachedStepper:
        return attach(*args, **given)


sys.modules[__name__].__class__ = _Attach
