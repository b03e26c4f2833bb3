"""Session files that other projects have published. They are not ours to commit: read where they lie, if they do."""

import json
from pathlib import Path

import pytest

import adknb
from adknb.files.cli import main_open

REAL = Path(__file__).parents[2].parent / "shared" / "real"

pytestmark = pytest.mark.skipif(
    not REAL.is_dir(), reason="../shared/real is not there: the published session files are not part of this repository"
)

SESSIONS = ["customer_service", "shopping", "complex_spark"]


@pytest.mark.parametrize(
    "name, events, turns, agents, state",
    [
        ("customer_service", 34, 11, ["cymbal_retail_agent"], ["customer_profile"]),
        ("shopping", 50, 8, ["personalized_shopping_agent"], ["_time"]),
        (
            "complex_spark",
            9,
            1,
            [
                "spark_assistant",
                "research_assistant",  # handed over to, never heard of again
                "research_plan_agent",
                "question_generation_agent",
                "information_retrieval_agent",
                "summary_agent",
            ],
            ["_time"],  # under `context`
        ),
    ],
)
def test_a_published_session_opens(name: str, events: int, turns: int, agents: list[str], state: list[str]) -> None:
    tape = adknb.open(REAL / f"{name}.session.json")
    assert (len(tape.events), tape.turns, tape.agents, list(tape.state)) == (events, turns, agents, state)
    assert len(tape.table()) == events


@pytest.mark.parametrize("name", SESSIONS)
def test_every_event_of_a_published_session_is_explained(name: str) -> None:
    tape = adknb.open(REAL / f"{name}.session.json")
    for i in range(len(tape.events)):
        rebuilt = tape.request_before(i)
        assert not rebuilt.problem
        assert len(rebuilt.fates) == rebuilt.before
        assert rebuilt.contents or (name, i) in [("shopping", 0), ("shopping", 1)]  # before anybody spoke
        assert all(len(line) <= 100 for line in rebuilt.text().splitlines())
        assert rebuilt._repr_html_()


def test_the_second_call_of_a_turn_sees_the_first_one_s_answer() -> None:
    rebuilt = adknb.open(REAL / "customer_service.session.json").request_before(13)
    assert [fate.kind for fate in rebuilt.fates] == ["kept"] * 13
    assert rebuilt.contents[-1].parts[0].function_response.name == "modify_cart"  # type: ignore[index, union-attr]


def test_calls_without_ids_all_show_the_last_answer() -> None:
    """The file has no call ids: six calls, and the cart's last content behind each of them."""
    rebuilt = adknb.open(REAL / "customer_service.session.json").request_before(33)
    assert [f.event for f in rebuilt.fates if f.kind == "left_out"] == [12, 14, 16, 28, 30]
    assert rebuilt.fates[32].contents == (22, 24, 26, 28, 30, 32)
    assert any("had ids when this ran" in sentence for sentence in rebuilt.unknown)


def test_events_that_only_write_state_are_in_no_request() -> None:
    rebuilt = adknb.open(REAL / "shopping.session.json").request_before(48)
    silent = [0, 1, 6, 21, 24, 29, 34, 39, 44]
    assert [f.event for f in rebuilt.fates if f.kind == "left_out"] == silent
    assert "events 0, 1, 6, 21, 24, 29, 34, 39, 44: only state (_time)" in rebuilt.text()


def test_the_older_shape_keeps_its_options() -> None:
    tape = adknb.open(REAL / "complex_spark.session.json")
    assert tape.events[2].actions.skip_summarization
    assert tape.events[2].extra["options/function_call_event_id"] == tape.events[1].id
    assert tape.extra["current_agent_name"] == "spark_assistant"
    rebuilt = tape.request_before(6)
    assert [fate.kind for fate in rebuilt.fates] == ["kept", *["reworded"] * 5]


@pytest.mark.parametrize("name", SESSIONS)
def test_the_listing_names_every_event(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main_open(str(REAL / f"{name}.session.json")) == 0
    out = capsys.readouterr().out
    assert f"  {len(adknb.open(REAL / f'{name}.session.json').events) - 1}  " in out
    assert all(len(line) <= 100 for line in out.splitlines()[:-1])


def test_an_evaluation_set_is_a_session_a_case() -> None:
    tape = adknb.open(REAL / "brand_search.evalset.json")
    assert tape.expectations
    assert tape.session_id == "eval_data_set_google_shopping"
    assert [one.session_id for one in tape.sessions] == ["eval_data_set_google_shopping"]
    assert [e.author for e in tape.events[2:7]] == [
        "user",
        "brand_search_optimization",
        "brand_search_optimization",  # hands over
        "keyword_finding_agent",
        "keyword_finding_agent",
    ]
    assert not any(tape.request_before(i).problem for i in range(len(tape.events)))


@pytest.mark.parametrize("name", [*(f"{n}.session" for n in SESSIONS), "brand_search.evalset"])
def test_a_published_file_is_written_back_as_it_came(tmp_path: Path, name: str) -> None:
    path = REAL / f"{name}.json"
    adknb.open(path).save(tmp_path / "copy.json")
    assert json.loads((tmp_path / "copy.json").read_text("utf-8")) == json.loads(path.read_text("utf-8"))


@pytest.mark.parametrize("name", [*(f"{n}.session" for n in SESSIONS), "brand_search.evalset"])
def test_a_published_file_becomes_one_page(tmp_path: Path, name: str) -> None:
    tape = adknb.open(REAL / f"{name}.json")
    tape.to_html(tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text("utf-8")
    assert all(f'id="e{i}"' in text for i in range(len(tape.events)))
    assert text.count("<details><summary>What ") == len(tape.requests()) + 1


@pytest.mark.parametrize("name, same", [("customer_service", True), ("complex_spark", False)])
def test_a_published_session_can_be_played_again(name: str, same: bool) -> None:
    replay = adknb.open(REAL / f"{name}.session.json").to_scenario()
    assert (replay.check().event is None) is same
    assert adknb.step(replay).here is not None
