"""Gemini: the adapter between the engine and the google-genai client.

Go: model/gemini/gemini.go, NewModel, geminiModel

It takes an LLMRequest and gives LLMResponses; it knows no events, no session and no tools. It changes two things in a
request, a last turn for the user and two headers, and nothing else: it retries nothing and runs no function.

Where it differs from Go: the client is made when the first request is sent, so that an agent can be built, and stepped
as far as the call of its model, without a key. And what the Python client would do by itself, running functions and
asking for continuations, is switched off: one call of the model is one request.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Generator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from google.genai import types

from adknb.engine.converters import genai_to_llm_response
from adknb.engine.errors import AdknbError
from adknb.engine.live.connection import Bell
from adknb.engine.live.gemini_live import GeminiLive, connect
from adknb.engine.model import LLMRequest
from adknb.engine.processors.contents.emit import CONTINUE
from adknb.engine.response import LLMResponse
from adknb.engine.streaming import StreamingResponseAggregator

if TYPE_CHECKING:
    from google.auth.credentials import Credentials
    from google.genai import Client

GEMINI_API, VERTEX = "gemini_api", "vertex"


class ModelCallFailed(AdknbError):
    """A call without streaming failed, or its reply was empty. The client's own error is the cause."""


class Gemini:
    """A Gemini model, on the Developer API or on Vertex AI.

        Gemini("gemini-2.5-flash", api_key="…")
        Gemini("gemini-2.5-flash", vertexai=True, project="…", location="europe-west1")

    What is left out comes from the environment, as the client reads it: GOOGLE_API_KEY, GOOGLE_GENAI_USE_VERTEXAI, …
    `base_url` is short for that field of `http_options`. Options are copied; an HTTP client in them is used as it is,
    and never closed. google-genai before 3.4 cannot read a stream whose texts hold U+2028 or U+0085.

    Spec: streaming.md §2

    Go: model/gemini/gemini.go, NewModel
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        vertexai: bool | None = None,
        project: str | None = None,
        location: str | None = None,
        credentials: Credentials | None = None,
        base_url: str = "",
        http_options: types.HttpOptions | types.HttpOptionsDict | None = None,
    ) -> None:
        self.name = name
        self._options: dict[str, Any] = {
            "api_key": api_key,
            "vertexai": vertexai,
            "project": project,
            "location": location,
            "credentials": credentials,
            "http_options": _copied(http_options, base_url),
        }
        self._client: Client | None = None

    def __repr__(self) -> str:
        return f"Gemini({self.name!r}, backend={self.backend!r})"

    @property
    def backend(self) -> str:
        """`"gemini_api"` or `"vertex"`: what the constructor was told, else the environment, else the former.

        Go: model/gemini/gemini.go, GetGoogleLLMVariant
        """
        vertexai = self._options["vertexai"]
        if vertexai is None:
            variables = (os.environ.get("GOOGLE_GENAI_USE_ENTERPRISE"), os.environ.get("GOOGLE_GENAI_USE_VERTEXAI"))
            vertexai = next((text.lower() in ("true", "1") for text in variables if text is not None), False)
        return VERTEX if vertexai else GEMINI_API

    @property
    def client(self) -> Client:
        """The google-genai client, made when it is first asked for.

        Raises:
            ValueError: the client's own: no key, or options that do not go together.
        """
        if self._client is None:
            from google.genai import Client

            self._client = Client(**{name: value for name, value in self._options.items() if value is not None})
        return self._client

    def close(self) -> None:
        """Close the client's connections; the next call opens new ones."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def generate_content(self, request: LLMRequest, stream: bool) -> Generator[LLMResponse, None, None]:
        """Send the request. Streaming: a partial response for each chunk, then the whole; else the one response.

        Raises:
            ModelCallFailed: without streaming: the call failed, or the reply has no candidate.
            Exception: with streaming: the client's own error, when and as it came. There is no whole response then.

        Go: model/gemini/gemini.go, GenerateContent
        """
        if self.backend == "gemini_api" and request.config.labels:  # Go's client refuses them before it sends anything
            raise ModelCallFailed(f"model {self.name!r}: labels are for Vertex; the Gemini API takes none")
        _let_the_user_speak_last(request)
        _say_who_we_are(request)
        yield from (self._generate_stream if stream else self._generate)(request)

    def connect_live(self, config: types.LiveConnectConfig, bell: Bell) -> GeminiLive:
        """Open a live connection; see live/gemini_live.py.

        Raises:
            Exception: the client's own: no key, no server, a refusal.

        Go: model/gemini/gemini.go, Client
        """
        return connect(self.client, self.name, config, bell)

    def _generate(self, request: LLMRequest) -> Generator[LLMResponse, None, None]:
        """Go: model/gemini/gemini.go, generate"""
        models = self.client.models
        try:
            reply = models.generate_content(**self._arguments(request))
        except Exception as error:
            raise ModelCallFailed(f"the call of model {self.name!r} failed: {error}") from error
        if not reply.candidates:
            raise ModelCallFailed(f"the reply of model {self.name!r} is empty: it has no candidate{_blocked(reply)}")
        yield genai_to_llm_response(reply)

    def _generate_stream(self, request: LLMRequest) -> Generator[LLMResponse, None, None]:
        """Go: model/gemini/gemini.go, generateStream"""
        aggregator = StreamingResponseAggregator()
        chunks: Any = self.client.models.generate_content_stream(**self._arguments(request))
        try:
            for chunk in chunks:
                yield aggregator.process_response(chunk)
        finally:  # also when the reader stops in the middle: the connection must not stay open
            chunks.close()
        whole = aggregator.close()
        if whole is not None:
            yield whole

    def _arguments(self, request: LLMRequest) -> dict[str, Any]:
        ours = {
            "automatic_function_calling": types.AutomaticFunctionCallingConfig(disable=True),
            "automatic_continuation": False,
        }
        config = request.config.model_copy(update=ours)
        return {"model": request.model or self.name, "contents": request.contents, "config": config}


def _let_the_user_speak_last(request: LLMRequest) -> None:
    """Ask the model to go on if the last turn is not the user's: a callback may have cut the contents.

    Go: model/gemini/gemini.go, maybeAppendUserContent
    """
    if request.contents and request.contents[-1] is not None and request.contents[-1].role != "user":
        request.contents.append(types.Content(role="user", parts=[types.Part(text=CONTINUE)]))


def _say_who_we_are(request: LLMRequest) -> None:
    """Set the two headers in the request's own options; the client puts its own product in front.

    Go: model/gemini/gemini.go, addHeaders
    """
    options = request.config.http_options or types.HttpOptions()
    others = {k: v for k, v in (options.headers or {}).items() if k.lower() not in ("x-goog-api-client", "user-agent")}
    headers = {**others, "x-goog-api-client": product(), "user-agent": product()}
    request.config.http_options = options.model_copy(update={"headers": headers})


@cache
def product() -> str:
    """Framework and language with their versions: `adknb/0.1.0 gl-python/3.11.7`."""
    try:
        ours = version("adknb")
    except PackageNotFoundError:  # run from a folder that is not installed
        ours = "unknown"
    return f"adknb/{ours} gl-python/{platform.python_version()}"


def _copied(given: types.HttpOptions | types.HttpOptionsDict | None, base_url: str) -> types.HttpOptions | None:
    """Options of our own: the client writes into those that it is given."""
    if given is None and not base_url:
        return None
    options = types.HttpOptions.model_validate(given or {}).model_copy()
    options.headers = dict(options.headers) if options.headers is not None else None
    options.base_url = base_url or options.base_url
    return options


def _blocked(reply: types.GenerateContentResponse) -> str:
    """What feedback on the prompt says, if there is any."""
    block = genai_to_llm_response(reply)
    return f" ({': '.join(filter(None, (block.error_code, block.error_message)))})" if block.error_code else ""
