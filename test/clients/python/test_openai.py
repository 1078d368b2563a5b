"""OpenAI's package: chat and Responses, plain, streamed and with tools; a realtime session."""

import asyncio
import os

import pytest
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

from conftest import TARGETS

WEATHER = {
    "type": "object",
    "properties": {"place": {"type": "string"}},
    "required": ["place"],
    "additionalProperties": False,
}


class Place(BaseModel):
    name: str
    inhabitants: int


def test_chat(target):
    client = OpenAI()
    messages = [{"role": "user", "content": "Name a river."}]
    plain = client.chat.completions.create(model=target.openai_model, messages=messages)
    assert len(plain.choices[0].message.content) > 5
    assert plain.usage.total_tokens > 2
    stream = client.chat.completions.create(model=target.openai_model, messages=messages, stream=True)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
    assert text == plain.choices[0].message.content


def test_chat_tools(target):
    client = OpenAI()
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": WEATHER, "strict": True}}]
    messages = [{"role": "user", "content": "What is the weather in Linz?"}]
    asked = client.chat.completions.create(
        model=target.openai_model, messages=messages, tools=tools, tool_choice="required"
    )
    message = asked.choices[0].message
    call = message.tool_calls[0]
    assert call.function.name == "get_weather"
    messages += [message, {"role": "tool", "tool_call_id": call.id, "content": "Sunny"}]
    told = client.chat.completions.create(model=target.openai_model, messages=messages, tools=tools)
    assert told.choices[0].message.content


def test_parse(target):
    parsed = OpenAI().chat.completions.parse(
        model=target.openai_model,
        messages=[{"role": "user", "content": "A place."}],
        response_format=Place,
    )
    assert isinstance(parsed.choices[0].message.parsed, Place)


def test_responses(target):
    client = OpenAI()
    plain = client.responses.create(model=target.openai_model, input="Name a lake.")
    assert plain.status == "completed"
    with client.responses.stream(model=target.openai_model, input="Name a lake.") as stream:
        events = list(stream)
    assert events[-1].type == "response.completed"
    assert events[-1].response.output_text == plain.output_text


def test_responses_tools(target):
    tools = [{"type": "function", "name": "get_weather", "parameters": WEATHER, "strict": True}]
    answer = OpenAI().responses.create(
        model=target.openai_model, input="What is the weather in Graz?", tools=tools, tool_choice="required"
    )
    assert [item.name for item in answer.output if item.type == "function_call"] == ["get_weather"]


def test_what_is_passed_on(target):
    if target.name == "aggregator":
        return
    client = OpenAI()
    assert len(client.moderations.create(input="hello").results) == 1
    if target.name == "sandbox":
        return
    assert client.audio.speech.create(model="tts-1", voice="alloy", input="Hello").read()
    assert client.images.generate(model="gpt-image-1", prompt="a point").data[0].b64_json


only_direct = pytest.mark.parametrize("target", [each for each in TARGETS if each[0] == "direct"], indirect=True)
QUESTION = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello?"}]}


@only_direct
def test_realtime(target):
    client = OpenAI(websocket_base_url=os.environ["PROXY_REALTIME_URL"])
    with client.realtime.connect(model="gpt-realtime") as session:
        session.session.update(session={"type": "realtime", "output_modalities": ["text"]})
        for _ in range(2):
            session.conversation.item.create(item=QUESTION)
            session.response.create()
            text = ""
            for event in session:
                assert event.type != "error"
                if event.type == "response.output_text.delta":
                    text += event.delta
                if event.type == "response.done":
                    break
            assert text == "Hello from here."
            assert event.response.usage.input_tokens == 1_000


@only_direct
def test_realtime_async(target):
    async def converse() -> list[str]:
        client = AsyncOpenAI(websocket_base_url=os.environ["PROXY_REALTIME_URL"])
        async with client.realtime.connect(model="gpt-realtime") as session:
            await session.response.create()
            told = []
            async for event in session:
                told.append(event.type)
                if event.type == "response.done":
                    return told

    assert asyncio.run(converse())[-3:] == [
        "response.output_text.delta",
        "response.output_text.done",
        "response.done",
    ]
