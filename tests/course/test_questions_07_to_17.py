"""What counts as right in lessons 07 to 17 is what a run shows. (Lessons 11, 13 and 16 have files of their own.)

A row: the scenario, where to, what is read off, and for each value that could be read the option that says so.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import adknb
from adknb import at
from adknb.course import answers, calls, says
from adknb.course.quiz import Quiz
from adknb.engine.event import function_calls_of, function_responses_of
from adknb.engine.platform import concurrent, in_order, interleaved, reverse
from adknb.engine.processors import REQUEST_PROCESSORS
from tests.course.proving import met, prove, run_to

PARCEL = Path(__file__).resolve().parents[2] / "notebooks" / "data" / "parcel.session.json"
NAMES = [stage.__name__ for stage in REQUEST_PROCESSORS]


def lane(d, name):
    return [str(s) for s in d.stops if (s.lane or "").startswith(f"{name}#")]


def answered(d, n):
    return tuple(r.name for r in function_responses_of(d.events[n].content))


def texts(d):
    return [(c.role, " ".join(p.text or "" for p in c.parts)) for c in d.request.contents]


def which(text, *tops):
    """The first of these that begins, or stands in, a text."""
    return next((top for top in tops if top in text), text)


def same_events(d):
    other = run_to("14b")
    pairs = zip(d.events, other.events, strict=True)
    return tuple(n for n, (a, b) in enumerate(pairs) if (a.content, a.actions) != (b.content, b.actions))


def runners_alike(d):
    runs = [
        adknb.step(adknb.scenario("14a-in-order"), runner=r).resume()
        for r in (in_order, reverse, interleaved, concurrent)
    ]
    return sum(run.state == d.state for run in runs)


def scales_broken(d):
    d.fail("the scales are broken")
    d.resume()
    return (type(d.error), len(d.requests), d.tools_run.count("weigh"))


def placed(stage_behind):
    """Where a processor's sentence stands among the paragraphs of lesson 17, and how many there are."""

    def read(d):
        def saturday(ctx, request, flow):
            request.append_instructions("Today is Saturday.")

        place = 0 if stage_behind is None else NAMES.index(stage_behind) + 1
        other = d.what_if(request_processors=[*REQUEST_PROCESSORS[:place], saturday, *REQUEST_PROCESSORS[place:]]).other
        told = [p.text for p in other.paragraphs if p.stage not in ("before_model of agent:library_desk#0",)]
        return told.index("Today is Saturday.") if "Today is Saturday." in told else None

    return read


def twice_placed(d):
    def saturday(ctx, request, flow):
        request.append_instructions("Today is Sunday.")

    place = NAMES.index("identity") + 1
    stages = [*REQUEST_PROCESSORS[:place], saturday, *REQUEST_PROCESSORS[place:]]
    whole = d.what_if(request_processors=stages).other.resume()
    second = whole.requests[1]["config"]["systemInstruction"]["parts"][0]["text"]
    return met(whole, "processor", name="saturday"), second.count("Sunday")


def without_contents(d):
    mute = d.what_if(request_processors=[s for s in REQUEST_PROCESSORS if s.__name__ != "contents"]).other.resume()
    return len(mute.requests[0]["contents"]), mute.error is None


def later_without_compaction(d):
    scenario = adknb.scenario("12a-what-the-summary-hides")
    del scenario["compaction"]
    scenario["events"] = [e.to_json() for e in d.events]
    scenario["turns"] = scenario["turns"][:1]
    again = adknb.step(scenario).until(at("contents"))
    return says(again.request, "Persuasion in June."), says(again.request, "Summary:")


def parcel(read):
    return lambda d: read(adknb.open(PARCEL))


def mended(session):
    for n, found in enumerate(session.events):
        for part in [*function_calls_of(found.content), *function_responses_of(found.content)]:
            part.id = f"id-of-{part.name}"
        if n == 7:
            found.author = "shop_desk"
    shown = session.request_before(9).contents[2]
    return says(shown, "Lyon"), says(shown, "spade")


THE_TURN_ENDS = "the whole turn ended with an error"
PROOFS = {
    ("07", 1): ("07a", None, lambda d: (d.tools_run[0], answered(d, 2)[0]), {
        ("scan_shelf", "reserve_north"): "as the model called them", ("scan_shelf", "scan_shelf"): "as they finished",
        ("scan_shelf", "price_of"): "by the tools' names"}),
    ("07", 2): ("07a", None, lambda d: d.state["last_shop"], {"south": "south", "north": "north"}),
    ("07", 3): ("07a", None, lambda d: sorted(d.state["basket"]) == ["north", "south"], {
        True: "merged: both shops are in it", False: "the later call's map alone"}),
    ("07", 4): ("07a", None, lambda d: tuple(d.state["log"]), {
        ("south",): '["south"]', ("north", "south"): '["north", "south"]', ("north",): '["north"]'}),
    ("07", 5): ("07a", None, lambda d: (len(lane(d, "price_of")), "price_of" in answered(d, 2), d.error is None), {
        (0, True, True): "it was answered with an error; neither before_tool nor after_tool was asked",
        (0, False, False): THE_TURN_ENDS}),
    ("07", 6): ("07b", at(tool="cancel_booking", turn=2), lambda d: (len(answered(d, 2)), len(d.requests)), {
        (3, 1): "3 parts, 1 model call", (4, 2): "4 parts, 2 model calls", (2, 1): "2 parts, 1 model call"}),
    ("08", 1): ("08a", at("confirmation", turn=3), lambda d: answers(d.events[6])[0] == calls(d.events[3])[0] != "seat-1" and bool(d.tools_run), {
        True: "the generated id of the request for approval", False: "seat-1, the id of the call"}),
    ("08", 2): ("08a", at("contents", turn=2), lambda d: (d.tools_run, says(d.request, "requires approval"), d.error) == ([], True, None), {
        True: 'nothing resumes; the model reads "needs approval" and the text, and the request stays open',
        False: "the turn is refused until somebody answers"}),
    ("08", 3): ("08a", at("instructions", turn=3), lambda d: (met(d, "model", turn=3), says(d.request, "Seat: 14A."), tuple(d.tools_run)), {
        (0, True, ("book_seat",)): "the tool, inside the fourth processor; the same step's instruction already knows the seat",
        (1, True, ("book_seat",)): "the model: it is told of the yes and calls again"}),
    ("08", 4): ("08a", at("contents", turn=3), lambda d: (len(d.request.contents), says(d.request, "adk_request")), {
        (3, False): "3, and it sees neither", (5, True): "5, with both", (4, True): "4, with the approval only"}),
    ("08", 5): ("08a", None, lambda d: tuple(says(r, "What does it cost?") for r in d.requests[2:4]), {
        (False, True): "missing in turn 3, back in turn 4", (True, True): "there in both", (False, False): "gone for good"}),
    ("08", 6): ("08b", None, lambda d: (len(d.tools_run), met(d, "model", turn=2)), {
        (0, 1): "no; a refusal is the call's answer, and the model is asked", (1, 1): "yes, with confirmed=False",
        (0, 0): "no, and the turn ends there"}),
    ("09", 1): ("09b", at("output_schema"), lambda d: (says(d.request.config.tools, "set_model_response"), d.request.config.response_schema is None), {
        (True, True): "in the declaration of a tool set_model_response, not in the config",
        (False, False): "in the config's response_schema, as with the first"}),
    ("09", 2): ("09b", None, lambda d: met(d, "model", turn=1), {2: "twice", 3: "three times: it must still say something", 1: "once"}),
    ("09", 3): ("09b", None, lambda d: (d.events[5].author, d.events[5].content.role, d.events[5].content.parts[0].text.startswith('{"shelf":"A2 \\u003c')), {
        ("cataloguer", "model", True): "cataloguer, model, JSON with its keys sorted and < written as \\u003c",
        ("cataloguer", "user", False): "cataloguer, user, the arguments as they came",
        ("set_model_response", "model", False): "set_model_response, model, the arguments as they came"}),
    ("09", 4): ("09b", at("basic", turn=2), lambda d: type(d.state["card"]), {
        str: "a text", dict: "an object with three fields", list: "a list of parts"}),
    ("09", 5): ("09b", None, lambda d: (met(d, "model", turn=2), d.error is None, "error" in d.events[-1].content.parts[0].text), {
        (1, True, True): "the error object is the final answer; no second try", (2, True, False): "the model is asked again, with the error",
        (1, False, False): "the turn ends in an error"}),
    ("09", 6): ("09b", None, lambda d: which(str(d.state.get("card")), "error", "Emma"), {
        "error": "the error object, as a text", "Emma": "still the card of Emma", "None": "nothing: the key is gone"}),
    ("10", 1): ("10a", at("model", turn=2), lambda d: "".join(e.author[0] for e in d.events[1:6]), {
        "ffvvv": "front, front, visa, visa, visa", "fvvvv": "front, visa, visa, visa, visa", "fffvv": "front, front, front, visa, visa"}),
    ("10", 2): ("10a", at("contents", agent="visa_desk"), lambda d: next((r, which(t, "For context:")) for r, t in texts(d) if "Our visa desk" in t), {
        ("user", "For context:"): 'as user content that begins with "For context:"', ("model", "Our visa desk knows that."): "as model turns"}),
    ("10", 3): ("10a", None, lambda d: (d.events[7].author, [e.author for e in d.events[9:]]) == ("visa_desk", ["visa_desk", "visa_desk", "rail_desk"]), {
        True: "the visa desk, directly; it hands on to its peer", False: "the front desk, both times"}),
    ("10", 4): ("10b", at("contents", agent="bibliographer"), lambda d: (len(d.request.contents), says(d.request, "I collect")), {
        (1, False): "nothing: its request is the call's arguments", (2, True): "all of it: it sees the conversation"}),
    ("10", 5): ("10b", None, lambda d: ("?" in d.state["finding"], says(d.requests[-1], "The London one.")), {
        (True, False): "the question it asked; no", (False, True): "its result; yes", (False, False): "its result; no"}),
    ("10", 6): ("10c", None, lambda d: (says(d.requests[1]["config"], "internal name"), *(says(r, "[translator] said") for r in d.requests[2:])), {
        (False, False, True): "no; one turn later only", (True, True, True): "yes; in the same turn", (False, False, False): "no; never"}),
    ("12", 1): ("12a", at(seam="summarize"), lambda d: d.here.turn if met(d, "model", turn=4) == 0 else 0, {
        4: "at the next call, in turn 4", 3: "at once, in turn 3"}),
    ("12", 2): ("12a", at(seam="summarize"), lambda d: len(d.here.holds["events"]), {
        4: "turns 1 and 2", 7: "everything so far", 6: "turns 1 to 3"}),
    ("12", 3): ("12a", at("contents", turn=4), lambda d: next((n == 0, r) for n, (r, t) in enumerate(texts(d)) if "Summary" in t), {
        (True, "model"): "as the first content, in the role model", (False, "user"): "as the last content, in the role user"}),
    ("12", 4): ("12a", None, lambda d: (len(d.events), met(d, "on_event"), sum(e.actions.compaction is not None for e in d.events)), {
        (9, 4, 1): "neither the plugin nor the reader; the session has it", (9, 5, 1): "both, as with every event"}),
    ("12", 5): ("12b", at("contents", turn=3), lambda d: tuple(which(t, "Summary", "Continue", "Who wrote") for _, t in texts(d)), {
        ("Summary", "Continue"): "the summary and a nudge to go on; the question is gone", ("Who wrote",): "the question alone",
        ("Summary", "Who wrote"): "the summary and the question"}),
    ("12", 6): ("12a", None, later_without_compaction, {
        (True, False): "all the original words, and no summary", (False, True): "the summary and what came after it",
        (True, True): "all the original words and the summary"}),
    ("14", 1): ("14b", None, lambda d: (d.tools_run[-1], d.state["last_step"]), {
        ("weigh", "label"): "label", ("weigh", "weigh"): "weigh"}),
    ("14", 2): ("14a", None, same_events, {
        (): "none; only the order of the two starts differs", (2,): "the event with the merged answers", (2, 3): "all behind the calls"}),
    ("14", 3): ("14a", None, lambda d: tuple(which(i, "adk-") for i in calls(d.requests[1])), {
        ("", ""): "none: both were generated", ("adk-", "adk-"): "adk-id-6 and adk-id-7"}),
    ("14", 4): ("14a", None, lambda d: [e.to_json() for e in d.events] == [e.to_json() for e in run_to("14a").events], {
        True: "equal to the last byte, ids and times too", False: "alike but for ids and times"}),
    ("14", 5): ("14a", None, runners_alike, {4: "in all four", 3: "in three: not with threads", 2: "in two"}),
    ("14", 6): ("14a", at(tool="weigh"), scales_broken, {
        (type(None), 2, 0): "no: the error is the tool's answer, and the model reads it", (RuntimeError, 1, 0): "yes, with that error",
        (type(None), 2, 1): "no: weigh is run again"}),
    ("15", 1): ("15a", None, parcel(lambda s: which(str(s.request_before(9).contents[2].parts), "spade", "Lyon")), {
        "spade": "the cart's answer: one spade", "Lyon": "Lyon and Thursday"}),
    ("15", 2): ("15a", None, parcel(lambda s: says(s.request_before(9).contents[7], "[model] said: One spade.")), {
        True: "another agent's, called model", False: "the agent's own"}),
    ("15", 3): ("15a", None, parcel(lambda s: len(s.request_before(9).fates[6].contents)), {2: "two", 1: "one", 0: "none"}),
    ("15", 4): ("15a", None, parcel(mended), {
        (True, False): "Lyon and Thursday", (False, True): "still the cart: the file is as it was", (True, True): "both answers"}),
    ("15", 5): ("15a", None, parcel(lambda s: "had ids when this ran" in s.request_before(9).unknown[0]), {
        True: "no: the ids may have been lost when the file was written", False: "yes: the request is rebuilt from it"}),
    ("15", 6): ("15a", None, parcel(lambda s: (s.events[8].author, says(s.request_before(8).contents[-1], "So when does"))), {
        ("user", True): "no model wrote event 8; the next call's request holds it last", ("user", False): "events 0 to 7"}),
    ("17", 1): ("17", at("model"), lambda d: [p.text for p in d.request.config.system_instruction.parts].index("Today is Saturday."), {
        1: "in a part of its own, at the end of the instruction", 0: "in front of everything"}),
    ("17", 2): ("17", at("identity"), placed(None), {None: "nowhere", 0: "in front of all others", 2: "at the end"}),
    ("17", 3): ("17", at("identity"), placed("basic"), {0: "in front of the agent's instruction", None: "nowhere either", 1: "between instruction and name"}),
    ("17", 4): ("17", at("identity"), placed("instructions"), {
        1: "between the instruction and the agent's name", 2: "at the end", 0: "in front of the instruction"}),
    ("17", 5): ("17", at("model"), without_contents, {
        (0, True): "nothing, and it is called all the same", (0, False): "nothing: the turn ends with an error", (1, True): "the user's message alone"}),
    ("17", 6): ("17", at("identity"), twice_placed, {(2, 1): "twice; once", (2, 2): "twice; twice", (1, 1): "once; once"}),
}  # fmt: skip


@pytest.mark.parametrize("lesson, n", PROOFS)
def test_the_right_option_is_what_the_run_shows(lesson, n):
    name, wish, read, options = PROOFS[lesson, n]
    question = Quiz(lesson, "en").question(n)
    prove(lesson, n, run_to(name, wish), read, {value: question.key_of(text) for value, text in options.items()})


@pytest.mark.parametrize("lesson", sorted({lesson for lesson, _ in PROOFS}))
def test_every_question_of_a_lesson_is_proved(lesson):
    assert [n for of, n in sorted(PROOFS) if of == lesson] == [1, 2, 3, 4, 5, 6]
    for language in ("en", "zh"):
        assert [Quiz(lesson, language).question(n).n for n in range(1, 7)] == [1, 2, 3, 4, 5, 6]
