"""agno, with its model classes for OpenAI (Responses and chat) and Anthropic."""

import pytest
from agno.agent import Agent
from agno.models.anthropic import Claude
from agno.models.openai import OpenAIChat, OpenAIResponses


@pytest.fixture(params=[OpenAIResponses, OpenAIChat, Claude], ids=lambda kind: kind.__name__)
def model(request, target):
    if request.param is Claude:
        return Claude(id=target.anthropic_model)
    return request.param(id=target.openai_model)


def test_plain_and_streamed(model):
    agent = Agent(model=model, telemetry=False)
    assert len(agent.run("Name a river.").content) > 5
    text = "".join(event.content or "" for event in agent.run("Name a lake.", stream=True) if event.event == "RunContent")
    assert len(text) > 5


def test_tools(model):
    calls = []

    def get_weather(place: str) -> str:
        """The weather of a place."""
        calls.append(place)
        return f"Sunny in {place}"

    assert Agent(model=model, tools=[get_weather], telemetry=False).run("What is the weather in Linz?").content
    assert len(calls) >= 1
