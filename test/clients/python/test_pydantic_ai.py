"""pydantic-ai, with its provider prefixes: `openai:` uses Responses, `openai-chat:` chat, `anthropic:` Messages."""

import asyncio

import pytest
from pydantic_ai import Agent


@pytest.fixture(params=["openai-responses", "openai-chat", "anthropic"])
def model(request, target) -> str:
    name = target.anthropic_model if request.param == "anthropic" else target.openai_model
    return f"{request.param}:{name}"


def test_plain(model):
    result = Agent(model, instructions="Be brief.").run_sync("Name a river.")
    assert len(result.output) > 5
    assert result.usage.output_tokens > 0


def test_streamed(model):
    async def follow() -> str:
        async with Agent(model).run_stream("Name a lake.") as stream:
            return "".join([piece async for piece in stream.stream_text(delta=True)])

    assert len(asyncio.run(follow())) > 5


def test_tools(model):
    calls = []
    agent = Agent(model)

    @agent.tool_plain
    def get_weather(place: str) -> str:
        """The weather of a place."""
        calls.append(place)
        return f"Sunny in {place}"

    assert agent.run_sync("What is the weather in Linz?").output
    assert len(calls) >= 1
