"""A panel as one file: what is in it, that it stays small and the same, and that nothing in it can break out."""

import base64
import gzip
import json
import os
import re

import pytest
from google.genai import types

import adknb
from adknb import at
from adknb.engine.errors import BadData
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import FunctionModel
from adknb.widgets.export import Pool, contents_of, document, playable, to_html
from tests.widgets.runs import HOSTILE, golden, said, weather


def data_of(text):
    """What is packed in the file."""
    packed = re.search(r'id="data">([^<]*)</script>', text)[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_the_same_run_gives_the_same_bytes():
    def made():
        return document(weather().until(at("model", step=2)))

    assert made() == made()


def test_it_is_written_all_at_once(tmp_path, monkeypatch):
    path = tmp_path / "run.html"
    to_html(weather().until(at("model")), path)
    first = path.read_text(encoding="utf-8")
    assert first.startswith("<!doctype html>")
    assert [p.name for p in tmp_path.iterdir()] == ["run.html"]

    def fails(*args):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(BadData, match=r"run\.html: cannot be written"):
        to_html(weather().resume(), path)
    assert path.read_text(encoding="utf-8") == first
    assert [p.name for p in tmp_path.iterdir()] == ["run.html"]


@pytest.mark.parametrize("where", ["no/such/folder/run.html", ""])
def test_a_place_that_cannot_be_written_is_told(tmp_path, where):
    with pytest.raises(BadData, match="cannot be written"):
        to_html(weather(), tmp_path / where)


def test_writing_it_leaves_the_run_alone():
    dbg = weather().until(at("model", step=2))
    listeners, before, notice = list(dbg._listeners), repr(dbg), dbg.notice
    document(dbg)
    assert (repr(dbg), dbg.notice, list(dbg._listeners)) == (before, notice, listeners)
    assert dbg.resume().here is None


def test_the_page_forbids_itself_everything_but_its_own_script():
    text = document(weather())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert "default-src 'none'" in policy
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", text)
    assert text.count("<script") == 2
    assert text.count("</script") == 2


@pytest.mark.parametrize("hostile", [*HOSTILE, "</script><script>alert(1)</script>", "<!--<script>", "\u2028\u2029"])
def test_no_text_of_a_run_stands_in_the_file_as_markup(hostile):
    agent = LlmAgent(
        "a",
        model=FunctionModel(lambda request: hostile, name="m"),
        instruction=lambda ctx: hostile,
        description=hostile[:200],
        output_key="key",
    )
    dbg = adknb.step(agent, [hostile]).resume()
    text = document(dbg)
    text.encode()
    assert (text.count("<script"), text.count("</script"), text.count("<iframe"), text.count("<img")) == (2, 2, 0, 0)
    assert data_of(text)["events"][0]["author"] == "user"


@pytest.mark.parametrize(
    "name", ["seed/weather_question", "parallel/7", "contents/0", "callbacks/0", "confirmation/0", "loop/0"]
)
@pytest.mark.parametrize("where", ["first", "end"])
def test_every_question_of_every_view_is_answered_at_any_stop(name, where):
    dbg = adknb.step(golden(name))
    data = contents_of(dbg.resume() if where == "end" else dbg)
    asked = {(q["type"], q.get("name", ""), q.get("against", "")) for q, _ in data["answers"] if "stop" not in q}
    for question in [
        *(("page", "Request", against) for against in ("stop", "step", "request")),
        ("page", "State", ""),
        ("page", "Findings", ""),
        ("page", "Source", ""),
        ("where", "", ""),
        ("fates", "", ""),
        ("matrix", "", ""),
        ("assemble", "", ""),
    ]:
        assert question in asked
    assert data["book"]["commands"] == []
    assert len(data["events"]) == len(dbg.events) == len(data["rows"])


def test_the_past_can_be_looked_at_in_the_file():
    dbg = weather().until(at("model", step=2))
    looks = {q["stop"] for q, _ in contents_of(dbg)["answers"] if q["type"] == "look"}
    assert looks == set(range(dbg.position))


def test_keys_and_tokens_are_taken_out_wherever_they_stand():
    def login(api_key: str, city: str) -> dict:
        """Logs in."""
        return {"access_token": "ya29.a-very-long-token-of-google", "city": city}

    call = types.Content(
        role="model",
        parts=[
            types.Part(function_call=types.FunctionCall(name="login", args={"api_key": 'my-own-"<key>"', "city": "x"}))
        ],
    )
    dbg = said(call, "done", tools=[adknb.FunctionTool(login)], user="my key is AIza" + "x" * 35).until(
        at("model", step=2)
    )
    dbg.state["user:password"] = "correct horse"
    text = document(dbg, redact=["Hangzh[o]u"])
    inside = json.dumps(data_of(text))
    for secret in ("my-own-", "ya29.a-very", "AIza" + "x" * 35, "correct horse"):
        assert secret not in inside, secret
        assert secret not in text, secret
    assert "[redacted]" in inside


def test_a_pattern_that_is_none_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(BadData, match=r"redact\[0\]"):
        to_html(weather(), tmp_path / "x.html", redact=["("])
    assert list(tmp_path.iterdir()) == []


def test_five_thousand_events_are_at_most_one_and_a_half_megabytes(tmp_path):
    from tests.bench.panel import run

    dbg = run().until(at("model"))
    to_html(dbg, tmp_path / "long.html")
    assert (tmp_path / "long.html").stat().st_size <= 1_500_000
    data = data_of((tmp_path / "long.html").read_text(encoding="utf-8"))
    answers = {q["type"]: unpooled(a, data["pool"]) for q, a in data["answers"]}
    assert not answers["matrix"]["more"]
    assert len(data["events"]) == len(data["rows"]) > 5_000


def test_a_very_long_text_of_an_event_is_cut_and_a_picture_is_not_carried_along():
    dbg = said("x" * 300_000).resume()
    assert len(json.dumps(contents_of(dbg)["events"])) < 50_000


# ---- the pool


def unpooled(value, pool):
    if isinstance(value, list):
        return [unpooled(v, pool) for v in value]
    if isinstance(value, dict):
        if "@" in value:
            raw, found = pool[value["@"]]
            return found if raw else unpooled(found, pool)
        return {k: unpooled(v, pool) for k, v in value.items()}
    return value


LONG = ["a long enough text to be worth sharing, again and again and again"] * 3

VALUES = [
    {"a": LONG, "b": LONG},
    [LONG, {"x": [LONG]}, None, 1.5, True],
    {"@": 5},
    {"a": {"@": [LONG]}, "b": {"@": [LONG]}},
    {"a": {"deep": [[[[[[[[LONG]]]]]]]]}},
    [{"@": {"@": 1}}, LONG],
    {},
    "text",
]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_what_goes_into_the_pool_comes_out_of_it(value):
    pool = Pool()
    encoded = json.loads(json.dumps([pool.encoded(value), pool.encoded(value)]))
    entries = json.loads(json.dumps(pool.entries))
    assert [unpooled(e, entries) for e in encoded] == [value, value]


def test_what_is_shared_is_there_once():
    pool = Pool()
    pool.encoded([LONG] * 50)
    assert json.dumps(pool.entries).count("worth sharing") == 3


def test_sound_beyond_what_the_file_has_room_for_is_seen_and_not_played(monkeypatch):
    rows = [{"way": "from", "sound": {"path": "M0", "src": "data:" + "x" * 995}} for _ in range(3)] + [{"way": "to"}]
    monkeypatch.setattr("adknb.widgets.export.MOST_SOUND", 2_500)
    told = playable(rows)
    assert [len(row["sound"]["src"]) for row in told[:3]] == [1000, 1000, 0]
    assert told[2]["sound"]["path"] == "M0"
    assert told[3] == {"way": "to"}
    assert len(rows[2]["sound"]["src"]) == 1000
