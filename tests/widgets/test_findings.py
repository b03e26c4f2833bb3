"""Findings: invariants and the doctor's findings, with links to the events they are about."""

import json

import pytest
from google.genai import types

import adknb
from adknb import at
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import FunctionModel
from adknb.lens.doctor import Finding
from adknb.widgets import static
from adknb.widgets.findings import SAID, alerts, findings_of, findings_page, grouped, text
from adknb.widgets.panel.widget import Panel
from adknb.widgets.text import flat
from tests.widgets.runs import HOSTILE, said, weather
from tests.widgets.runs_a import merging, relay, trip


def links(page):
    """Every event that a page leads to."""
    found = []

    def walk(value):
        if isinstance(value, list):
            if value[:1] == ["ev"]:
                found.append(value[1])
            for inner in value:
                walk(inner)
        elif isinstance(value, dict):
            walk(list(value.values()))

    walk(page)
    return found


def rows(page, look):
    return [row for block in page[0] if block[:2] == ["rows", look] for row in block[2]]


def test_what_holds_is_told_in_words():
    dbg = weather().until(at("contents", step=2))
    shown = rows(findings_page(dbg, []), "holds")
    assert [row["look"] for row in shown] == ["ok"] * 5
    assert [flat(row["text"][0]) for row in shown] == list(SAID.values())
    assert alerts(dbg) == 0


def test_a_broken_invariant_names_its_contents_and_the_events_behind_them():
    dbg = weather().until(at("contents", step=2))
    dbg.request.contents[2].parts[0].function_response.id = "adk-elsewhere"
    page = findings_page(dbg, [])
    broken = [row for row in rows(page, "holds") if row["look"] == "bad"]
    assert [row["text"][0][0] for row in broken] == [["b", "no orphan"], ["b", "ids stripped"]]
    assert links(broken) == [2, 2]
    assert alerts(dbg) == 2
    assert Panel(dbg).view["alerts"] == 2


def test_before_there_are_contents_nothing_is_checked():
    dbg = weather()
    assert "No contents have been built" in str(findings_page(dbg, []))
    assert alerts(dbg) == 0


def test_the_doctor_is_asked_with_all_that_the_run_knows():
    found = findings_of(trip())
    assert [(f.check, f.events) for f in found] == [("orphan-response", (23,))]
    page = findings_page(trip(), found)
    assert links(rows(page, "found")) == [23]
    assert '["go", [23, "Contents"]]' in json.dumps(page)


def test_calls_that_are_running_now_are_no_finding():
    dbg = merging()
    assert "unanswered-call" not in {f.check for f in findings_of(dbg)}
    agent = LlmAgent("a", FunctionModel(lambda r: types.Content(role="model", parts=[types.Part(function_call=types.FunctionCall(id="x", name="gone"))]), name="m"))  # fmt: skip
    left = adknb.step(agent, "hi").until(at(seam="merge", phase="before"))
    assert "unanswered-call" not in {f.check for f in findings_of(left)}


def finding(check="c", events=(1,), severity="error", **more):
    return Finding(
        check,
        severity,
        more.get("case", ""),
        events,
        more.get("facts", {}),
        more.get("why", "Why."),
        more.get("do", "Do."),
    )


@pytest.mark.parametrize(
    "found, groups",
    [
        ([], []),
        ([finding("a"), finding("b")], [1, 1]),
        ([finding("a")] * 3, [1, 1, 1]),
        ([finding("a")] * 4, [4]),
        ([finding("a", case="x")] * 4 + [finding("a", case="y")], [4, 1]),
        ([finding("a", severity="note")] * 2 + [finding("a")] * 4, [1, 1, 4]),
    ],
)
def test_many_findings_of_a_kind_are_told_as_one(found, groups):
    assert [len(group) for group in grouped(found)] == groups


def test_many_events_are_counted():
    (row,) = rows(findings_page(weather(), [finding(events=tuple(range(40)))]), "found")
    assert len(links(row)) == 12
    assert "and 28 more" in str(row)


def test_a_long_session_is_examined_when_it_is_asked_for(monkeypatch):
    dbg = relay(40)
    monkeypatch.setattr("adknb.widgets.findings.LONG", 10)
    panel = Panel(dbg)
    heard = []
    panel.send = lambda content, buffers=None: heard.append(content)
    panel.serve({"type": "page", "name": "Findings"})
    assert ["examine", "Examine it"] in heard[-1]["columns"][0][-1]
    panel.serve({"type": "page", "name": "Findings", "examine": True})
    assert "examine" not in json.dumps(heard[-1])
    panel.serve({"type": "page", "name": "Findings"})  # as long as no event has come since
    assert "examine" not in json.dumps(heard[-1])
    assert panel.errors == []


def test_texts_of_a_session_stay_texts():
    found = [finding(check=h, why=h, do=h, facts={h: h}, events=(), severity=h) for h in HOSTILE]
    html = "".join(static._block(block) for block in findings_page(weather(), found)[0])
    assert "<script>" not in html and "<img" not in html and "<iframe" not in html


def test_the_text_form_is_stable():
    dbg = trip()
    assert text(dbg).splitlines()[0] == "findings  5 of 5 invariants hold · 1 finding"
    assert text(dbg).splitlines()[1].startswith("  error   orphan-response  #23  No event makes the call 'p-9'")
    assert text(said("one")) == "findings  no contents yet · 0 findings"
