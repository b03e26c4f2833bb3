"""A scripted google-adk model. Imported only where google-adk is."""

from __future__ import annotations

from typing import Any

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.genai import types


def says(text: str, **more: Any) -> LlmResponse:
    return LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]), **more)


def calls(*named: tuple[str, dict[str, Any]]) -> LlmResponse:
    parts = [
        types.Part(function_call=types.FunctionCall(id=f"call-{n}", name=name, args=args))
        for n, (name, args) in enumerate(named, 1)
    ]
    return LlmResponse(content=types.Content(role="model", parts=parts))


class Scripted(BaseLlm):
    """Gives its turns in order; a turn is a response, an error, or a list of responses."""

    model: str = "scripted"
    script: list[Any] = []
    seen: list[Any] = []

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        turn = self.script[len(self.seen)]
        self.seen.append(
            (llm_request.config.system_instruction, llm_request.config.temperature,
             [c.model_copy(deep=True) for c in llm_request.contents])
        )  # fmt: skip
        for item in turn if isinstance(turn, list) else [turn]:
            if isinstance(item, Exception):
                raise item
            yield item.model_copy(deep=True)


def model(*script: Any) -> Scripted:
    return Scripted(script=list(script), seen=[])
