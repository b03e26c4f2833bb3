"""Keys, tokens and passwords taken out of a document before it is written.

Three rules: the text under a name that says *secret* (`api_key`, `Authorization`, …) goes, and wherever else the same
text stands; so does what looks like a well-known kind of key; and what fits a pattern that the user adds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from adknb.engine.errors import BadData

REDACTED = "[redacted]"

Pattern = str | re.Pattern[str]

SECRET_NAMES = re.compile(
    r"(.*(api|access|private|secret|signing|encryption|account)keys?|.*passw(or)?d|passphrase|.*secrets?|"
    r"(.*(access|refresh|id|auth|oauth|bearer|session|security|csrf|xsrf|bot|api))?token|xgoogapikey|"
    r"(proxy)?authorization|(set)?cookie|credentials?|apikeys?)"
)
"""Names that say *secret*, in lower case, without `-`, `_` and spaces."""

SECRET_TEXTS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<![\w-])AIza[\w-]{30,}",  # Google
        r"(?<![\w-])ya29\.[\w.-]{20,}",
        r"(?<![\w-])AQ\.[\w-]{30,}",
        r"(?<![\w-])sk-[\w-]{16,}",  # OpenAI, Anthropic
        r"(?<![\w-])(?:gh[pousr]_\w{20,}|github_pat_\w{20,})",
        r"(?<![\w-])glpat-[\w-]{16,}",
        r"(?<![\w-])hf_\w{20,}",
        r"(?<![\w-])xox[abeoprs]-[\w-]{10,}",  # Slack
        r"(?<![\w-])(?:AKIA|ASIA)[A-Z0-9]{16}(?!\w)",  # AWS
        r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*",  # a JSON web token
        r"(?i)(?<=\bbearer )[\w.~+/=-]{8,}",
        r"(?i)(?<=\bbasic )[a-z0-9+/]{12,}={0,2}(?!\w)",
        r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
        r"(?i)(?<=[?&]key=)[^&\s\"'\[]+",
        r"(?i)(?<=[?&]token=)[^&\s\"'\[]+",
        r"(?i)(?<=[?&]api_key=)[^&\s\"'\[]+",
        r"(?i)(?<=[?&]access_token=)[^&\s\"'\[]+",
        r"(?<=://)[^/\s:@\"\[]+:[^/\s@\"]+(?=@)",  # user and password in an address
    )
)
"""What well-known kinds of keys look like."""

MARKS = re.compile(
    r"aiza|ya29\.|aq\.|sk-|gh[pousr_]|github_|glpat-|hf_|xox|akia|asia|eyj|bearer |ic |-----begin |ey=|en=|://"
)
"""A text that holds none of these, in lower case, holds no such key: told by one search in the place of eighteen."""

SHORTEST = 8
"""A secret found by its name is looked for elsewhere only if it is this long: `on` stands everywhere."""


def patterns_of(given: Iterable[Pattern]) -> list[re.Pattern[str]]:
    """The user's patterns: regular expressions, as texts or compiled. Raises BadData for one that is none."""
    if isinstance(given, (str, re.Pattern)):
        given = [given]
    found = []
    for n, pattern in enumerate(given):
        try:
            found.append(re.compile(pattern))
        except (re.error, TypeError) as error:
            raise BadData(f"redact[{n}]", f"this is no regular expression: {error}") from None
        if found[-1].search(""):
            raise BadData(f"redact[{n}]", f"{found[-1].pattern!r} fits the empty text, and so everything")
    return found


def redacted(document: Any, more: Iterable[Pattern] = ()) -> Any:
    """A copy of JSON data without its secrets. What is redacted already stays as it is."""
    more = patterns_of(more)
    named = {text for text in _named(document) if text != REDACTED}
    everywhere = sorted((text for text in named if len(text) >= SHORTEST), key=len, reverse=True)
    exact = [re.compile(re.escape(text)) for text in everywhere]
    return _without(document, more, exact)


def _without(data: Any, patterns: list[re.Pattern[str]], exact: list[re.Pattern[str]], secret: bool = False) -> Any:
    if isinstance(data, str):
        return REDACTED if secret and data else _text_without(data, [*exact, *patterns])
    if isinstance(data, list):
        return [_without(item, patterns, exact, secret) for item in data]
    if not isinstance(data, dict):
        return data
    return {
        _text_without(key, patterns): _without(item, patterns, exact, secret or says_secret)
        for key, item, says_secret in _members(data)
    }


def _text_without(text: str, patterns: list[re.Pattern[str]]) -> str:
    """A text without what fits the patterns, then without well-known kinds of keys."""
    for pattern in (*patterns, *SECRET_TEXTS) if MARKS.search(text.lower()) else patterns:
        text = pattern.sub(REDACTED, text)
    return text


def _named(data: Any, secret: bool = False) -> Iterator[str]:
    """The texts that stand under a name that says *secret*."""
    if isinstance(data, str):
        if secret and data:
            yield data
    elif isinstance(data, list):
        for item in data:
            yield from _named(item, secret)
    elif isinstance(data, dict):
        for _, item, says_secret in _members(data):
            yield from _named(item, secret or says_secret)


def _members(data: dict[str, Any]) -> Iterator[tuple[str, Any, bool]]:
    """(name, value, whether the name says *secret*); in a JSON patch the name is the end of the path."""
    patched = "op" in data and isinstance(data.get("path"), str)
    for key, item in data.items():
        name = data["path"].rsplit("/", 1)[-1] if patched and key == "value" else key
        yield key, item, is_secret_name(name) and not _is_schema(item)


@lru_cache(maxsize=10_000)
def is_secret_name(name: str) -> bool:
    """Whether a name says that a secret stands under it: `X-Goog-Api-Key`, `db_password`, `authToken`."""
    return SECRET_NAMES.fullmatch(re.sub(r"[-_ ]", "", name).lower()) is not None


def _is_schema(item: Any) -> bool:
    """A parameter called `token` is described, not told: `{"type": "string"}`."""
    return isinstance(item, dict) and isinstance(item.get("type"), (str, list))
