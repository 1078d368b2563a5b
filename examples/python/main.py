"""Sends one question twice, and a request that its budget cannot pay for. Prints cache, cost and budget of each response."""

import os

from openai import OpenAI, RateLimitError

client = OpenAI(
    base_url=f"{os.environ['PROXY_URL']}/v1",
    api_key=os.environ["PROXY_KEY"],
    # The budget of this example applies to requests with this tag.
    default_headers={"X-Proxy-Tags": "example=python"},
)


def ask(question: str, max_tokens: int) -> None:
    response = client.chat.completions.with_raw_response.create(
        model="openai/gpt-4o-mini",
        max_tokens=max_tokens,
        messages=[{"role": "user", "content": question}],
    )
    # response.parse() returns the completion.
    cache = response.headers["x-proxy-cache"]
    cost = float(response.headers["x-proxy-cost-usd"])
    # Only misses count against a budget, so hits have no such header.
    left = response.headers.get("x-proxy-budget-remaining-usd", "-")
    print(f"{cache} cost {cost:g} left {left}")


ask("What is the capital of France?", max_tokens=100)
ask("What is the capital of France?", max_tokens=100)
try:
    # It could cost more than the budget, so the provider is not called.
    ask("Write a long story." + " Describe every detail." * 5_000, max_tokens=16_000)
except RateLimitError as error:
    print(error.code)
