//! async-openai; only base URL and key are changed. Prints a line for each conversation: PASSED or FAILED, with its client, its endpoint and
//! its name. Its types are closed: an unknown kind of item or event, or a missing field, is an error.

use async_openai::{
    Client,
    config::OpenAIConfig,
    error::OpenAIError,
    types::{
        chat::{CreateChatCompletionRequest, CreateChatCompletionResponse},
        embeddings::CreateEmbeddingRequest,
        responses::{CreateResponse, Response, ResponseStreamEvent},
    },
};
use futures::StreamExt;
use serde_json::{Value, from_value, json, to_value};
use std::{env, error::Error};

type Ai = Client<OpenAIConfig>;
type Outcome = Result<(), Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for (target, models) in [
        ("direct", ["gpt-5-mini", "claude-haiku-4-5", "llama-3.3-70b-versatile"]),
        ("aggregator", ["openai/gpt-5-mini", "anthropic/claude-haiku-4.5", "meta-llama/llama-3.3-70b-instruct"]),
    ] {
        let ai = connect(&variable(&format!("PROXY_KEY_{}", target.to_uppercase())));
        for model in models {
            let tell = |name, outcome| tell(&format!("async-openai {name} of the {target}'s {model}"), outcome);
            tell("chat turns", chat_turns(&ai, model).await);
            tell("chat streamed", chat_streamed(&ai, model).await);
            tell("chat tools", chat_tools(&ai, model).await);
            tell("responses turns", response_turns(&ai, model).await);
            tell("responses streamed", response_streamed(&ai, model).await);
            tell("responses tools", response_tools(&ai, model).await);
        }
    }
    let direct = connect(&variable("PROXY_KEY_DIRECT"));
    tell("async-openai embeddings", embedded(&direct).await);
    tell("async-openai chat refused", refused(&connect("lgw_proj_unknown")).await);
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

fn connect(key: &str) -> Ai {
    let base = format!("{}/v1", variable("PROXY_ROOT"));
    Client::with_config(OpenAIConfig::new().with_api_base(base).with_api_key(key))
}

fn tell(name: &str, outcome: Outcome) {
    match outcome {
        Ok(()) => println!("PASSED {name}"),
        Err(error) => println!("FAILED {name}: {}", error.to_string().replace('\n', " ")),
    }
}

fn holds(is_so: bool, what: &str, seen: impl std::fmt::Debug) -> Outcome {
    if is_so { Ok(()) } else { Err(format!("{what}: {seen:?}").into()) }
}

fn said(text: &str) -> Outcome {
    holds(text.len() >= 5, "hardly anything was said", text)
}

fn weather() -> Value {
    json!({ "type": "object", "properties": { "place": { "type": "string" } }, "required": ["place"] })
}

fn chat(model: &str, messages: &[Value]) -> Result<CreateChatCompletionRequest, serde_json::Error> {
    from_value(json!({ "model": model, "messages": messages }))
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

/// Returns the assistant message for the next turn, as the package's types encode it.
fn answered(answer: &CreateChatCompletionResponse) -> Result<Value, serde_json::Error> {
    to_value(&answer.choices[0].message)
}

async fn chat_turns(ai: &Ai, model: &str) -> Outcome {
    let first = user("Name a river of Norway.");
    let answer = ai.chat().create(chat(model, &[first.clone()])?).await?;
    let messages = [first, answered(&answer)?, user("And a lake.")];
    let second = ai.chat().create(chat(model, &messages)?).await?;
    said(second.choices[0].message.content.as_deref().unwrap_or_default())
}

async fn chat_streamed(ai: &Ai, model: &str) -> Outcome {
    let mut stream = ai.chat().create_stream(chat(model, &[user("Name a mountain of Norway.")])?).await?;
    let (mut text, mut is_finished) = (String::new(), false);
    while let Some(chunk) = stream.next().await {
        for choice in chunk?.choices {
            text += choice.delta.content.as_deref().unwrap_or_default();
            is_finished |= choice.finish_reason.is_some();
        }
    }
    holds(is_finished, "not finished", &text)?;
    said(&text)
}

async fn chat_tools(ai: &Ai, model: &str) -> Outcome {
    let tools = json!([{ "type": "function", "function": { "name": "get_weather", "parameters": weather() } }]);
    let asked = user("What is the weather in Linz?");
    let request = |messages: Value| from_value(json!({ "model": model, "tools": tools, "messages": messages }));
    let answer = ai.chat().create(request(json!([asked]))?).await?;
    let message = answered(&answer)?;
    let call = &message["tool_calls"][0];
    holds(call["function"]["arguments"].as_str().is_some_and(|given| given.contains("Linz")), "not called", &message)?;
    let result = json!({ "role": "tool", "tool_call_id": call["id"], "content": "Sunny" });
    let second = ai.chat().create(request(json!([asked, message, result]))?).await?;
    said(second.choices[0].message.content.as_deref().unwrap_or_default())
}

fn response(body: Value) -> Result<CreateResponse, serde_json::Error> {
    from_value(body)
}

fn text_of(response: &Response) -> String {
    response.output_text().unwrap_or_default()
}

async fn response_turns(ai: &Ai, model: &str) -> Outcome {
    let responses = ai.responses();
    let first = responses.create(response(json!({ "model": model, "input": "Name a river of Spain." }))?).await?;
    let next = json!({ "model": model, "input": "And a lake.", "previous_response_id": first.id });
    let second = responses.create(response(next)?).await?;
    said(&text_of(&second))?;
    let kept = responses.retrieve(&second.id).await?;
    said(&text_of(&kept))?;
    let items = responses.list_input_items(&second.id).await?;
    holds(!items.data.is_empty(), "nothing was said before", items)?;
    holds(responses.delete(&second.id).await?.deleted, "not deleted", second.id)
}

async fn response_streamed(ai: &Ai, model: &str) -> Outcome {
    let request = response(json!({ "model": model, "input": "Name a mountain of Spain." }))?;
    let mut stream = ai.responses().create_stream(request).await?;
    let (mut text, mut whole) = (String::new(), None);
    while let Some(event) = stream.next().await {
        match event? {
            ResponseStreamEvent::ResponseOutputTextDelta(delta) => text += &delta.delta,
            ResponseStreamEvent::ResponseCompleted(completed) => whole = Some(completed.response),
            _ => {}
        }
    }
    said(&text)?;
    holds(whole.as_ref().map(text_of) == Some(text), "not completed as it was streamed", whole)
}

async fn response_tools(ai: &Ai, model: &str) -> Outcome {
    let tools = json!([{ "type": "function", "name": "get_weather", "parameters": weather(), "strict": false }]);
    let mut input = vec![user("What is the weather in Linz?")];
    let request = |input: &[Value]| response(json!({ "model": model, "tools": tools, "input": input }));
    let answer = ai.responses().create(request(&input)?).await?;
    for item in &answer.output {
        input.push(to_value(item)?);
    }
    let call = input.iter().find(|item| item["type"] == "function_call").cloned().unwrap_or_default();
    holds(call["arguments"].as_str().is_some_and(|given| given.contains("Linz")), "not called", &answer)?;
    input.push(json!({ "type": "function_call_output", "call_id": call["call_id"], "output": "Sunny" }));
    said(&text_of(&ai.responses().create(request(&input)?).await?))
}

async fn embedded(ai: &Ai) -> Outcome {
    let request: CreateEmbeddingRequest =
        from_value(json!({ "model": "text-embedding-3-small", "input": ["A river", "A lake"] }))?;
    let vectors = ai.embeddings().create(request).await?.data;
    holds(vectors.len() == 2 && vectors[1].embedding.len() > 10, "not embedded", vectors.len())
}

async fn refused(ai: &Ai) -> Outcome {
    match ai.chat().create(chat("gpt-5-mini", &[user("Hi")])?).await {
        Err(OpenAIError::ApiError(error)) => {
            holds(error.api_error.code.as_deref() == Some("invalid_api_key"), "another error", error)
        }
        other => holds(false, "not refused", other),
    }
}
