"""OpenAI's agents package. It uses Responses by default."""

import asyncio

from agents import Agent, OpenAIProvider, RunConfig, Runner, function_tool

CALLS = []
# The package reuses its connections, which belong to one event loop.
LOOP = asyncio.new_event_loop()


@function_tool
def get_weather(place: str) -> str:
    """The weather of a place."""
    CALLS.append(place)
    return f"Sunny in {place}"


def config_of(target):
    provider = OpenAIProvider(base_url=target.base_url, api_key=target.key)
    return RunConfig(model_provider=provider, tracing_disabled=True)


def test_plain_and_streamed(target):
    agent = Agent(name="Guide", instructions="Be brief.", model=target.openai_model)

    async def both():
        plain = await Runner.run(agent, "Name a river.", run_config=config_of(target))
        streamed = Runner.run_streamed(agent, "Name a river.", run_config=config_of(target))
        events = [event.data.type async for event in streamed.stream_events() if event.type == "raw_response_event"]
        return plain, streamed, events

    plain, streamed, events = LOOP.run_until_complete(both())
    assert len(plain.final_output) > 5
    assert streamed.final_output == plain.final_output
    assert "response.completed" in events


def test_tools(target):
    CALLS.clear()
    agent = Agent(name="Weather", model=target.openai_model, tools=[get_weather])
    result = LOOP.run_until_complete(Runner.run(agent, "What is the weather in Linz?", run_config=config_of(target)))
    assert result.final_output
    assert len(CALLS) >= 1
