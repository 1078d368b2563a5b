"""LangChain's package for Gemini: plain and streamed responses, tools."""

from langchain_core.tools import tool
from langchain_google_genai import ChatGoogleGenerativeAI


@tool
def get_weather(place: str) -> str:
    """The weather of a place."""
    return f"Sunny in {place}"


def connect(target):
    return ChatGoogleGenerativeAI(model=target.openai_model, api_key=target.key, base_url=target.root_url)


def test_plain_and_streamed(target):
    model = connect(target)
    plain = model.invoke("Name a river.")
    assert plain.text
    assert plain.usage_metadata["output_tokens"] > 0
    assert "".join(chunk.text for chunk in model.stream("Name a river.")) == plain.text


def test_tools(target):
    message = connect(target).bind_tools([get_weather], tool_choice="any").invoke("What is the weather in Linz?")
    assert message.tool_calls[0]["name"] == "get_weather"
