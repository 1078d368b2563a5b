"""Google's package: plain and streamed responses, functions, a chat, embeddings, token counts, errors."""

import pytest
from google import genai
from google.genai import errors, types


def connect(target, key=None):
    return genai.Client(api_key=key or target.key, http_options=types.HttpOptions(base_url=target.root_url))


WEATHER = types.Tool(
    function_declarations=[
        types.FunctionDeclaration(
            name="get_weather",
            description="The weather of a place.",
            parameters=types.Schema(
                type=types.Type.OBJECT, properties={"place": types.Schema(type=types.Type.STRING)}, required=["place"]
            ),
        )
    ]
)


def test_plain_and_streamed(target):
    client = connect(target)
    plain = client.models.generate_content(model=target.anthropic_model, contents="Name a river.")
    assert plain.candidates[0].finish_reason == types.FinishReason.STOP
    assert plain.usage_metadata.candidates_token_count > 0
    chunks = list(client.models.generate_content_stream(model=target.anthropic_model, contents="Name a river."))
    assert "".join(chunk.text or "" for chunk in chunks) == plain.text
    assert chunks[-1].usage_metadata.candidates_token_count == plain.usage_metadata.candidates_token_count


def test_functions(target):
    client = connect(target)
    mode = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.ANY)
    asked = types.Content(role="user", parts=[types.Part(text="What is the weather in Linz?")])
    config = types.GenerateContentConfig(tools=[WEATHER], tool_config=types.ToolConfig(function_calling_config=mode))
    called = client.models.generate_content(model=target.openai_model, contents=[asked], config=config)
    call = called.function_calls[0]
    assert call.name == "get_weather"
    assert "place" in call.args
    result = types.Part.from_function_response(name=call.name, response={"result": "Sunny"})
    contents = [asked, called.candidates[0].content, types.Content(role="user", parts=[result])]
    config = types.GenerateContentConfig(tools=[WEATHER])
    told = client.models.generate_content(model=target.openai_model, contents=contents, config=config)
    assert told.candidates[0].finish_reason == types.FinishReason.STOP


def test_chat(target):
    client = connect(target)
    chat = client.chats.create(model=target.openai_model)
    assert chat.send_message("Name a river.").text
    assert "".join(chunk.text or "" for chunk in chat.send_message_stream("Another one."))
    assert len(chat.get_history()) >= 4


def test_counts(target):
    client = connect(target)
    counted = client.models.count_tokens(model=target.openai_model, contents="How long is this?")
    assert counted.total_tokens > 0


def test_errors(target):
    client = connect(target, "lgw_proj_wrong")
    with pytest.raises(errors.ClientError) as error:
        client.models.generate_content(model=target.openai_model, contents="Hi.")
    assert (error.value.code, error.value.status) == (401, "UNAUTHENTICATED")
