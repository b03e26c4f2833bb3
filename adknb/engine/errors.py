"""The engine's errors.

AdknbError
├── BadData          a file, scenario or edit says something that cannot be; names the place
├── NotBuiltYet      a feature of ADK-Go that this version of adknb does not have; names it
└── FlowError        ends the turn, as a Go error does
    ├── ModelMissing, DuplicateTool, StateKeyMissing, ArtifactError,
    └── UnmatchedResponse, BadConfirmation, TransferRefused, SetupRefused
"""

from __future__ import annotations


class AdknbError(Exception):
    """Every error that adknb itself raises."""


class BadData(AdknbError):
    """Data from outside is not what it should be. `where` is a file, line or JSON path."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}")
        self.where = where
        self.message = message

    def __reduce__(self) -> tuple[type[BadData], tuple[str, str]]:
        return type(self), (self.where, self.message)


class NotBuiltYet(AdknbError, NotImplementedError):
    """The reference can do this, adknb cannot yet. Raised instead of doing something else silently."""

    def __init__(self, feature: str) -> None:
        super().__init__(f"adknb does not do this yet: {feature}")
        self.feature = feature

    def __reduce__(self) -> tuple[type[NotBuiltYet], tuple[str]]:
        return type(self), (self.feature,)


class FlowError(AdknbError):
    """Ends the turn; what was yielded before it stays stored."""


class ModelMissing(FlowError):
    """An LLM agent has no model."""


class DuplicateTool(FlowError):
    """Two tools of one name in one request."""


class StateKeyMissing(FlowError):
    """An instruction names a state key that is not there and not optional."""


class ArtifactError(FlowError):
    """An artifact that an instruction or a tool needs cannot be loaded."""


class UnmatchedResponse(FlowError):
    """A function response that ends the history belongs to no visible call."""


class BadConfirmation(FlowError):
    """An answer to a request for approval cannot be read."""


class TransferRefused(FlowError):
    """A transfer names an agent that may not be transferred to."""


class SetupRefused(FlowError):
    """The runner refuses the agent tree before any turn."""
