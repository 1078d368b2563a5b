-- Prompts by each of their topic words, through three indexes whose second column is the next word. Dashboard queries cannot read this view.

create or replace view prompts_by_word as
select p.word1 as word, p.word2 as next_word, p.entry_id, p.project_id, p.context_hash, p.normalized_hash, p.prompt, p.space_id, p.embedding, p.created_at, p.expires_at
from cache_prompts p
union all
select p.word2, p.word3, p.entry_id, p.project_id, p.context_hash, p.normalized_hash, p.prompt, p.space_id, p.embedding, p.created_at, p.expires_at
from cache_prompts p
union all
select p.word3, p.word1, p.entry_id, p.project_id, p.context_hash, p.normalized_hash, p.prompt, p.space_id, p.embedding, p.created_at, p.expires_at
from cache_prompts p;

comment on view prompts_by_word is 'The columns of cache_prompts that a lookup reads, once for each topic word of a prompt.';
comment on column prompts_by_word.word is 'The hash of a topic word.';
comment on column prompts_by_word.next_word is 'The hash of the topic word after it; after the third, of the first. Any two of a prompt are word and next_word in one order.';
