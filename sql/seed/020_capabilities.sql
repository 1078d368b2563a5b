-- Capabilities of direct providers' models besides text, by patterns of their names; no name matches two patterns. Read in November 2026
-- from developers.openai.com/api/docs/models, platform.claude.com/docs and console.groq.com/docs, partly via models.dev. `bun run
-- catalogue:sync` reads those of the aggregator's models.
--
-- Capabilities that an operator has set stay.
update models m
set capabilities = known.capabilities
from (
    values
        ('openai', '^(gpt-3\.5-turbo|gpt-4)$', array['tools']),
        ('openai', '^gpt-4-turbo$', array['images', 'tools']),
        ('openai', '^gpt-4(o|\.1)', array['files', 'images', 'structured_output', 'tools']),
        ('openai', '^(gpt-[56](?!.*-chat-latest)|o1$|o3$|o4-mini$)', array['files', 'images', 'reasoning', 'structured_output', 'tools']),
        ('openai', '^gpt-5.*-chat-latest$', array['images', 'reasoning', 'structured_output', 'tools']),
        ('openai', '^o3-mini$', array['reasoning', 'structured_output', 'tools']),
        ('anthropic', '^claude-', array['files', 'images', 'reasoning', 'structured_output', 'tools']),
        ('groq', '^llama-3\.', array['tools']),
        ('groq', '^meta-llama/llama-4-', array['images', 'structured_output', 'tools']),
        ('groq', '^meta-llama/llama-guard-', array['images']),
        ('groq', '^moonshotai/kimi-k2-', array['structured_output', 'tools']),
        ('groq', '^openai/gpt-oss-', array['reasoning', 'structured_output', 'tools']),
        ('groq', '^qwen/qwen3-32b$', array['reasoning', 'tools']),
        ('groq', '^qwen/qwen3\.8-', array['images', 'reasoning', 'tools'])
) as known (provider, name, capabilities)
where m.provider = known.provider
    and m.model ~ known.name
    and m.kind = 'chat'
    and (m.source <> 'operator' or m.capabilities = '{}');
