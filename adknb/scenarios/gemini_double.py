"""A scenario's Gemini model: the real adapter and the real client, against a fake API that says what it was told to.

Source: golden/README.md (Model, `gemini`; Also).
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import Any

from adknb.engine.event_json import response_to_json
from adknb.engine.gemini import Gemini
from adknb.engine.model import LLMRequest
from adknb.engine.response import LLMResponse
from adknb.scenarios.fake_gemini import FakeGemini
from adknb.scenarios.scripted import Script, model_request


class GeminiDouble:
    """Wraps the adapter and logs what goes in and what comes out. It does not tell its backend, as in the reference.

    Server and client live as long as one call of the model: nothing is left behind, however the call ends.
    """

    def __init__(self, spec: dict[str, Any], agent: str, script: Script) -> None:
        self.name: str = spec.get("name", "gemini-2.5-flash")
        self.calls: list[dict[str, Any]] = spec.get("calls", [])
        self.agent, self.script = agent, script
        self._key = f"model of {agent}"

    def __repr__(self) -> str:
        return f"GeminiDouble({self.name!r}, {len(self.calls)} calls)"

    @property
    def uses(self) -> int:
        """How many calls were answered."""
        return self.script.uses(self._key)

    @uses.setter
    def uses(self, n: int) -> None:
        self.script.set_uses(self._key, n)

    def generate_content(self, request: LLMRequest, stream: bool) -> Generator[LLMResponse, None, None]:
        """What the adapter yields for the script's next reply. Raises what the adapter raises."""
        self.script.write(lambda: model_request(self.agent, request, stream))
        with FakeGemini(self.calls, lambda: self.script.count(self._key)) as server:
            model = Gemini(self.name, api_key="none", vertexai=False, http_options=server.http_options)
            with closing(model), closing(model.generate_content(request, stream)) as responses:
                for response in responses:
                    self._log(response)
                    yield response

    def _log(self, response: LLMResponse) -> None:
        self.script.write(lambda: {"at": "model_response", "agent": self.agent, "response": response_to_json(response)})


def gemini_double(spec: dict[str, Any], agent: str, script: Script) -> GeminiDouble:
    """The model that a scenario's `{"gemini": true, …}` describes."""
    return GeminiDouble(spec, agent, script)
