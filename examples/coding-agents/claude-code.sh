# Claude Code through the proxy. To source in the shell that starts it.
export ANTHROPIC_BASE_URL="$PROXY_URL"
export ANTHROPIC_AUTH_TOKEN="$PROXY_KEY"
export ANTHROPIC_MODEL=anthropic/claude-sonnet-5
# The model for small tasks, such as titles.
export ANTHROPIC_DEFAULT_HAIKU_MODEL=openai/gpt-4o-mini
# Of a model that it does not know, Claude Code assumes 200,000 tokens of context.
export CLAUDE_CODE_MAX_CONTEXT_TOKENS=1000000
