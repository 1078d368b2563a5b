"""LiteLLM, which builds its own requests for chat, Responses and Messages."""

import litellm

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather of a place.",
            "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
        },
    }
]


def ask(target, text, **more):
    return {
        "model": f"openai/{target.openai_model}",
        "api_base": target.base_url,
        "api_key": target.key,
        "messages": [{"role": "user", "content": text}],
        **more,
    }


def test_plain_and_streamed(target):
    plain = litellm.completion(**ask(target, "Name a river."))
    assert len(plain.choices[0].message.content) > 5
    stream = litellm.completion(**ask(target, "Name a river.", stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == plain.choices[0].message.content


def test_tools(target):
    asked = litellm.completion(**ask(target, "What is the weather in Linz?", tools=TOOLS, tool_choice="required"))
    assert asked.choices[0].message.tool_calls[0].function.name == "get_weather"


def test_responses(target):
    answer = litellm.responses(
        model=f"openai/{target.openai_model}", api_base=target.base_url, api_key=target.key, input="Name a lake."
    )
    assert answer.status == "completed"


def test_anthropic(target):
    if target.name == "aggregator":
        return
    answer = litellm.completion(
        model=f"anthropic/{target.anthropic_model}",
        api_base=target.root_url,
        api_key=target.key,
        messages=[{"role": "user", "content": "Name a river."}],
    )
    assert len(answer.choices[0].message.content) > 5
