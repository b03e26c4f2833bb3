"""Longer runs for the views of Contents, Branches, State, Where and Source: a trip with parallel agents, a task, transfers.

`trip()` stands in the middle of its fifth turn: three agents work side by side, over a session that holds a summary,
speech, an approval, a late answer, an orphan, and a task's scope. `relay(n)` is the same crew over n stored events.
"""

from __future__ import annotations

from google.genai import types

import adknb
from adknb import at
from adknb.engine.compaction import CompactionConfig
from adknb.engine.event import Event
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import FunctionModel
from adknb.engine.platform import interleaved
from adknb.engine.runner import Runner
from adknb.engine.session import InMemorySessionService
from adknb.engine.tool import FunctionTool
from adknb.engine.workflow_agents import ParallelAgent, SequentialAgent

USER, SESSION = "user", "session-1"


def say(author, text, **more):
    role = "user" if author == "user" else "model"
    return {"author": author, "content": {"role": role, "parts": [{"text": text}]}, **more}


def call(author, *calls, **more):
    parts = [{"functionCall": {"id": i, "name": name, "args": args}} for i, name, args in calls]
    return {"author": author, "content": {"role": "model", "parts": parts}, **more}


def answer(author, *answers, **more):
    parts = [{"functionResponse": {"id": i, "name": name, "response": r}} for i, name, r in answers]
    return {"author": author, "content": {"role": "user", "parts": parts}, **more}


RAIL, RAIL_2, HOTEL = ({"branch": f"scouts.{name}"} for name in ("rail", "rail_2", "hotel"))
ASK = "adk_request_confirmation"

STORY = [
    (1, say("user", "Two adults from Shanghai: three days in Hangzhou, please.", actions={"stateDelta": {"user:lang": "en"}})),
    (1, say("desk", "With pleasure. I will ask the scouts.", actions={"stateDelta": {"city": "Hangzhou", "nights": 3}})),
    (2, {"author": "user", "inputTranscription": {"text": "Trains first, "}}),
    (2, {"author": "user", "inputTranscription": {"text": "then somewhere quiet to sleep."}}),
    (2, say("desk", "Scouts: trains and rooms, please, and keep it calm.")),
    (2, call("rail", ("t-1", "find_trains", {"from": "Shanghai", "to": "Hangzhou"}), ("w-1", "watch_fares", {"train": "G7321"}), **RAIL, longRunningToolIds=["w-1"])),
    (2, call("hotel", ("r-1", "search_rooms", {"city": "Hangzhou", "quiet": True}), **HOTEL)),
    (2, call("rail_2", ("t-2", "find_trains", {"from": "Hangzhou", "to": "Shanghai"}), **RAIL_2)),
    (2, answer("rail", ("t-1", "find_trains", {"trains": ["G7321 09:05", "G7543 09:40"]}), ("w-1", "watch_fares", {"status": "pending"}), **RAIL, actions={"stateDelta": {"app:fares": 73, "temp:seen": 2}})),
    (2, answer("hotel", ("r-1", "search_rooms", {"name": "West Lake Inn", "rooms": 2}), **HOTEL, actions={"stateDelta": {"rooms": {"inn": 2}}})),
    (2, answer("rail_2", ("t-2", "find_trains", {"trains": ["G7590 18:20"]}), **RAIL_2)),
    (2, call("rail", ("adk-5f1c", "hold_seats", {"train": "G7321", "seats": 2}), **RAIL)),
    (2, answer("rail", ("adk-5f1c", "hold_seats", {"error": "hold_seats needs approval"}), **RAIL)),
    (2, call("rail", ("adk-77e0", ASK, {"originalFunctionCall": {"id": "adk-5f1c", "name": "hold_seats"}}), **RAIL, longRunningToolIds=["adk-77e0"])),
    (3, say("user", "By the window, if you can.")),
    (3, answer("user", ("adk-77e0", ASK, {"confirmed": True}))),
    (3, answer("rail", ("adk-5f1c", "hold_seats", {"held": 2, "until": "10:05"}), **RAIL, actions={"stateDelta": {"held": 2}})),
    (3, call("desk", ("v-1", "visa", {"request": "Do two adults need one?"}))),
    (3, say("visa", "Which passports do you travel on?", isolationScope="v-1")),
    (4, say("user", "Both German.", isolationScope="v-1")),
    (4, call("visa", ("f-1", "finish_task", {"result": "No visa needed."}), isolationScope="v-1")),
    (4, answer("visa", ("f-1", "finish_task", {"result": "The task is finished; its result has been handed back."}), isolationScope="v-1")),
    (4, answer("user", ("v-1", "visa", {"output": "No visa needed."}))),
    (4, answer("rail", ("p-9", "price_alert", {"note": "below 80 yuan"}), **RAIL)),
    (4, say("rail", "Two window seats are held until five past ten.", **RAIL, actions={"stateDelta": {"held": 2, "city": "Hangzhou East"}})),
    (4, {"author": "user", "actions": {"compaction": {"startTimestamp": 1.0, "endTimestamp": 2.0, "compactedContent": {"role": "model", "parts": [{"text": "Summary: two adults from Shanghai want three calm days in Hangzhou."}]}}}}),
    (4, answer("user", ("w-1", "watch_fares", {"fare": 73, "status": "settled"}))),
]  # fmt: skip
"""Turn and event; event n happens at second n + 1."""


def stored(story):
    """The events of a story."""
    return [
        Event.from_json({"id": f"e{i}", "invocationId": f"turn-{turn}", "timestamp": float(i + 1), **data})
        for i, (turn, data) in enumerate(story)
    ]


def find_trains(ctx, to: str) -> dict:
    """Finds trains to a city."""
    ctx.state["search"] = {"trains": {"to": to}}
    ctx.state["last_search"] = "trains"
    return {"trains": ["G7321"]}


def search_rooms(ctx, city: str) -> dict:
    """Finds rooms in a city."""
    ctx.state["search"] = {"rooms": {"city": city}}
    ctx.state["last_search"] = "rooms"
    return {"rooms": 2}


def watch_fares(train: str) -> dict:
    """Watches the fares of a train."""
    return {"status": "pending"}


def hold_seats(train: str, seats: int) -> dict:
    """Holds seats."""
    return {"held": seats}


def crew(asks_twice=True):
    """desk, then rail, rail_2 and hotel side by side, then writer. Rail asks for two tools at once."""

    def rail(request):
        """The model of rail."""
        done = any(p.function_response and p.function_response.id == "c-1" for c in request.contents for p in c.parts)
        if done or not asks_twice:
            return "G7590 at 18:20 suits you."
        calls = [("c-1", "find_trains", {"to": "Shanghai"}), ("c-2", "search_rooms", {"city": "Hangzhou"})]
        parts = [types.Part(function_call=types.FunctionCall(id=i, name=n, args=a)) for i, n, a in calls]
        return types.Content(role="model", parts=parts)

    def note_fares(ctx, request):
        """Keeps an eye on how often rail's model is asked."""
        ctx.state["temp:asked"] = ctx.state.get("temp:asked", 0) + 1

    def model(text):
        return FunctionModel(lambda request: text, name="m")

    instruction = "Answer in English. Prices in yuan. Seats held so far: {held?}."
    visa = LlmAgent("visa", model("None needed."), "Say who needs a visa.", "knows visas", mode="task")
    desk = LlmAgent("desk", model("I pass it on."), instruction, "takes the question", sub_agents=[visa])
    rails = LlmAgent(
        "rail", FunctionModel(rail, name="m"), instruction, "finds trains", [find_trains, search_rooms, FunctionTool(watch_fares, long_running=True), hold_seats], before_model=note_fares
    )  # fmt: skip
    rail_2 = LlmAgent("rail_2", model("Nothing later than 18:20."), instruction, "finds the way back", [find_trains])
    hotel = LlmAgent("hotel", model("The inn keeps the rooms."), instruction, "finds rooms", [search_rooms])
    writer = LlmAgent("writer", model("Your trip is settled."), "Sum up.", "writes the plan", include_contents="none")
    return SequentialAgent(
        "trip", "plans trips", [desk, ParallelAgent("scouts", "look around", [rails, rail_2, hotel]), writer]
    )


def step(root, events, message, compaction=True):
    """A Stepper over a session that holds these events already."""
    service = InMemorySessionService()
    session = service.create("adknb", USER, SESSION)
    for event in events:
        service.append_event(session, event)
    config = CompactionConfig(compaction_interval=1_000_000, summarizer=lambda events: None) if compaction else None
    return adknb.step(Runner(root, session_service=service, compaction=config), message, runner=interleaved)


def trip():
    """In the fifth turn of the story, behind the contents of rail's first step."""
    return step(crew(), stored(STORY), "And the last leg by night?").until(at("contents", agent="rail"))


def merging():
    """The same turn where rail's two tools have been merged."""
    return trip().until(at(seam="merge", phase="after"))


TOOL = {"rail": "find_trains", "rail_2": "find_trains", "hotel": "search_rooms"}


def alone(n):
    """One agent over n stored events of others, behind its contents: the next stops are its own, too."""
    agent = LlmAgent("solo", FunctionModel(lambda request: "Yes.", name="m"), "Be brief.")
    return step(agent, stored(_long(n)), "And now?").until(at("contents"))


def relay(n):
    """The crew over n stored events, behind rail's contents."""
    return step(crew(), stored(_long(n)), "And now?").until(at("contents", agent="rail"))


def _long(n):
    story, k = [], 0
    while len(story) < n:
        k += 1
        story.append((k, say("user", f"What about museum hours, question {k}?")))
        story.append((k, say("desk", "I ask the scouts.")))
        for agent, place in (("rail", RAIL), ("rail_2", RAIL_2), ("hotel", HOTEL)):
            story.append((k, call(agent, (f"{agent}-{k}", TOOL[agent], {"about": "the early train"}), **place)))
            story.append((k, answer(agent, (f"{agent}-{k}", TOOL[agent], {"found": 7}), **place)))
            story.append((k, say(agent, "Nothing yet about museum hours.", **place)))
    return story[:n]


def family():
    """Agents that hand over to each other, and one that is delegated to; behind two transfers."""

    def to(name):
        return types.Content(
            role="model",
            parts=[types.Part(function_call=types.FunctionCall(id=f"to-{name}", name="transfer_to_agent", args={"agent_name": name}))],
        )  # fmt: skip

    answers = {"root": to("billing"), "billing": to("refunds"), "refunds": "It is on its way."}

    def agent(name, *below, **more):
        model = FunctionModel(lambda request: answers.get(name, "Yes."), name="m")
        return LlmAgent(name, model, f"You are {name}.", f"handles {name}", sub_agents=below, **more)

    root = agent(
        "root",
        agent("billing", agent("refunds"), agent("invoices")),
        agent("shipping"),
        agent("address_check", mode="single_turn"),
    )
    return adknb.step(root, ["My parcel never came; I want my money back.", "Thank you."]).until(
        at("contents", agent="refunds")
    )
