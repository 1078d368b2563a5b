"""Anthropic's package: plain and streamed messages, tools, token counts."""

from anthropic import Anthropic

WEATHER = {
    "name": "get_weather",
    "description": "The weather of a place.",
    "input_schema": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
}


def ask(target, text, **more):
    return {"model": target.anthropic_model, "max_tokens": 300, "messages": [{"role": "user", "content": text}], **more}


def test_plain_and_streamed(target):
    client = Anthropic()
    plain = client.messages.create(**ask(target, "Name a river."))
    assert plain.stop_reason == "end_turn"
    assert plain.usage.output_tokens > 0
    with client.messages.stream(**ask(target, "Name a river.")) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert text == plain.content[0].text
    assert final.usage.output_tokens == plain.usage.output_tokens


def test_tools(target):
    client = Anthropic()
    asked = ask(target, "What is the weather in Linz?", tools=[WEATHER], tool_choice={"type": "any"})
    with client.messages.stream(**asked) as stream:
        message = stream.get_final_message()
    use = next(block for block in message.content if block.type == "tool_use")
    assert (message.stop_reason, use.name) == ("tool_use", "get_weather")
    assert "place" in use.input
    result = {"type": "tool_result", "tool_use_id": use.id, "content": "Sunny"}
    messages = [*asked["messages"], {"role": "assistant", "content": message.content}, {"role": "user", "content": [result]}]
    told = client.messages.create(model=target.anthropic_model, max_tokens=300, messages=messages, tools=[WEATHER])
    assert told.stop_reason in ("end_turn", "tool_use")


def test_counts(target):
    messages = [{"role": "user", "content": "How long is this?"}]
    assert Anthropic().messages.count_tokens(model=target.anthropic_model, messages=messages).input_tokens > 0
