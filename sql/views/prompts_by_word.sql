-- Prompts by each of their topic words and each pair of them, through three indexes. Dashboard queries cannot read this view.

create or replace view prompts_by_word as
select
    p.word1 as word, p.word1 as rarer_word, p.word2 as other_word, p.entry_id, p.project_id, p.context_hash, p.space_id, p.created_at,
    p.expires_at
from cache_prompts p
union all
select
    p.word2, p.word2, p.word3, p.entry_id, p.project_id, p.context_hash, p.space_id, p.created_at, p.expires_at
from cache_prompts p
union all
select
    p.word3, p.word1, p.word3, p.entry_id, p.project_id, p.context_hash, p.space_id, p.created_at, p.expires_at
from cache_prompts p;

comment on view prompts_by_word is 'Columns of cache_prompts, once for each topic word of a prompt.';
comment on column prompts_by_word.word is 'The hash of a topic word.';
comment on column prompts_by_word.rarer_word is 'The hash of the rarer word of a pair of topic words.';
comment on column prompts_by_word.other_word is 'The hash of the other word of the pair.';
comment on column prompts_by_word.project_id is 'The project.';
comment on column prompts_by_word.context_hash is 'SHA-256 over all of the request but the text.';
comment on column prompts_by_word.created_at is 'When the entry was stored.';
comment on column prompts_by_word.expires_at is 'When the entry expires.';
