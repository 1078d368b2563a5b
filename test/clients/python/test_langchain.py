"""LangChain's package for OpenAI. It switches to Responses automatically for features that chat lacks."""

import pytest
from langchain_openai import ChatOpenAI


@pytest.fixture(params=[False, True], ids=["chat", "responses"])
def model(request, target):
    return ChatOpenAI(model=target.openai_model, use_responses_api=request.param)


def get_weather(place: str) -> str:
    """The weather of a place."""
    return f"Sunny in {place}"


def test_plain_and_streamed(model):
    plain = model.invoke("Name a river.")
    assert len(plain.text) > 5
    assert plain.usage_metadata["total_tokens"] > 2
    assert "".join(chunk.text for chunk in model.stream("Name a river.")) == plain.text


def test_tools(model):
    bound = model.bind_tools([get_weather], tool_choice="any")
    asked = bound.invoke("What is the weather in Linz?")
    assert [call["name"] for call in asked.tool_calls] == ["get_weather"]
    streamed = None
    for chunk in bound.stream("What is the weather in Graz?"):
        streamed = chunk if streamed is None else streamed + chunk
    assert [call["name"] for call in streamed.tool_calls] == ["get_weather"]
