"""One model call with everything around it.

Go: internal/llminternal/base_flow.go, callLLM, generateContent, runOnModelErrorCallbacks, runAfterModelCallbacks

    before_model -> model -> on_model_error -> ids -> after_model, for every response

A `before_model` answer *is* the answer: neither the model nor `after_model` is asked (seed 000, 四.3.2).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from adknb.engine.context import Context, InvocationContext
from adknb.engine.event import EventActions
from adknb.engine.function_calls import populate_client_function_call_ids
from adknb.engine.model import LLM, LLMRequest, answers_of, as_response
from adknb.engine.plugin import hooks_of
from adknb.engine.response import LLMResponse
from adknb.engine.stops import Phase, Raise, Return, Seam, Steps, Stop, first_answer


@dataclass
class ModelCallbacks:
    """An agent's own callbacks around the model."""

    before_model: list[Callable[..., Any]] = field(default_factory=list)
    after_model: list[Callable[..., Any]] = field(default_factory=list)
    on_model_error: list[Callable[..., Any]] = field(default_factory=list)


def call_llm(
    ctx: InvocationContext, model: LLM, request: LLMRequest, callbacks: ModelCallbacks, state_delta: dict[str, Any]
) -> Generator[Any, None, None]:
    """Ask the model; yields Stops and LLMResponses. All callbacks of the step write into one `state_delta`.

    Raises:
        Exception: the model's error if nobody recovers it, or a callback's.

    Go: internal/llminternal/base_flow.go, callLLM
    """
    callback_ctx = Context(ctx, EventActions(state_delta=state_delta))
    before = hooks_of(ctx.plugins, "before_model") + callbacks.before_model
    answer = yield from first_answer(
        Seam.BEFORE_MODEL, before, callback_ctx, request, request=request, ctx=callback_ctx
    )
    if answer is not None:
        yield _checked(answer, "before_model")
        return
    after = hooks_of(ctx.plugins, "after_model") + callbacks.after_model
    stream = ctx.run_config.streaming_mode == "sse"
    responses = generate_content(model, request, stream)
    try:
        while True:
            try:
                response = yield from _until_response(responses)
            except Exception as error:
                response = yield from _recover(callback_ctx, request, error, callbacks)
            if response is None:
                return
            ctx.platform.new_id()  # the reference draws one here, which no event carries; the later ones count on
            populate_client_function_call_ids(ctx, response.content)
            altered = yield from first_answer(
                Seam.AFTER_MODEL, after, callback_ctx, response, request=request, response=response, ctx=callback_ctx
            )
            yield response if altered is None else _checked(altered, "after_model")
    finally:
        responses.close()


def generate_content(model: LLM, request: LLMRequest, stream: bool) -> Generator[Any, None, None]:
    """The model's responses through the MODEL seam: a stop before the call, one after each response.

    Before the call the reader may answer with a response, a content, a text, or a list of these (a stream).

    Go: internal/llminternal/base_flow.go, generateContent
    """
    before = Stop(
        Seam.MODEL, model.name, Phase.BEFORE, {"request": request, "stream": stream}, function=model.generate_content
    )
    yield before
    responses: Iterator[Any] = iter(())
    source: Any = None
    try:
        try:
            source = _answered(before.answer) if before.answer else model.generate_content(request, stream)
            responses = iter(answers_of(source))
            failure = None
        except Exception as error:  # a model that fails before its first response
            failure = error
        while True:
            outcome = Raise(failure) if failure else _next(responses)
            if outcome is None:
                return
            after = Stop(
                Seam.MODEL,
                model.name,
                Phase.AFTER,
                {"request": request, "stream": stream, "outcome": outcome},
                opened_by=before,
                function=model.generate_content,
            )
            yield after
            yield as_response((after.answer or after.holds["outcome"]).unwrap())
            if failure:
                return
    finally:  # also when the consumer leaves: the model's stream must not stay open
        for opened in (responses, source):
            if hasattr(opened, "close"):
                opened.close()


def _next(responses: Iterator[Any]) -> Return | Raise | None:
    """The next response or error of a stream; None at its end."""
    try:
        return Return(as_response(next(responses)))
    except StopIteration:
        return None
    except Exception as error:
        return Raise(error)


def _answered(answer: Return | Raise) -> Iterable[Any]:
    """What a reader put in the model's place, as a stream: one answer, or any iterable of answers."""
    value = answer.unwrap()
    one = isinstance(value, (str, LLMResponse, types.Content)) or not isinstance(value, Iterable)
    return [value] if one else value


def _until_response(responses: Iterator[Any]) -> Steps[LLMResponse | None]:
    """Pass stops up until a response comes; None at the end of the stream."""
    for item in responses:
        if not isinstance(item, Stop):
            return item  # type: ignore[no-any-return]
        yield item
    return None


def _recover(ctx: Context, request: LLMRequest, error: Exception, callbacks: ModelCallbacks) -> Steps[LLMResponse]:
    """A response in the error's place, or the error again (seed 000, 四.3.3)."""
    hooks = hooks_of(ctx.invocation.plugins, "on_model_error") + callbacks.on_model_error
    answer = yield from first_answer(
        Seam.ON_MODEL_ERROR, hooks, ctx, request, error, request=request, error=error, ctx=ctx
    )
    if answer is None:
        raise error
    return _checked(answer, "on_model_error")


def _checked(answer: Any, hook: str) -> LLMResponse:
    try:
        return as_response(answer)
    except TypeError:
        raise TypeError(f"a {hook} callback returns an LLMResponse or None, not {type(answer).__name__}") from None
