"""The proxy's base URL and a key for each target, from environment variables."""

import os
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Target:
    """The target of a key: the sandbox, a project's own providers, or the aggregator."""

    name: str
    # Ends in /v1.
    base_url: str
    key: str
    openai_model: str
    anthropic_model: str

    @property
    def root_url(self) -> str:
        """The base URL for Anthropic's clients, which append /v1."""
        return self.base_url.removesuffix("/v1")


TARGETS = [
    ("sandbox", "openai/gpt-4o-mini", "claude-haiku-4-5"),
    ("direct", "gpt-5-mini", "claude-haiku-4-5"),
    ("aggregator", "openai/gpt-4o-mini", "openai/gpt-4o-mini"),
]


@pytest.fixture(params=TARGETS, ids=[name for name, *_ in TARGETS])
def target(request) -> Target:
    name, openai_model, anthropic_model = request.param
    return Target(
        name,
        os.environ["PROXY_BASE_URL"],
        os.environ[f"PROXY_KEY_{name.upper()}"],
        openai_model,
        anthropic_model,
    )


@pytest.fixture(autouse=True)
def no_vendor_settings(monkeypatch, target):
    """Sets the variables for base URL and key, as for any program."""
    monkeypatch.setenv("OPENAI_BASE_URL", target.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", target.key)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", target.root_url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", target.key)
