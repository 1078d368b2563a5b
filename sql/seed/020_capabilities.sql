-- What direct providers' models can do besides text, by the patterns of their names; no name matches two. Read from
-- developers.openai.com/api/docs/models, platform.claude.com/docs and console.groq.com/docs, some of it via models.dev, in
-- November 2026. The aggregator's own list says it of its models: `bun run catalogue:sync`.
--
-- What an operator has written stays.
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
