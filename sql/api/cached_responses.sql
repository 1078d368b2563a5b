create or replace view cached_responses with (security_invoker = true) as
select
    e.id as _id,
    e.project_id as _project_id,
    e.model as _model,
    e.namespace as _namespace,
    e.created_at as _created_at,
    e.key_id as _key_id,
    e.end_user as _end_user,
    'entry_' || e.id as id,
    e.endpoint,
    e.model,
    e.provider,
    e.namespace,
    e.bytes::natural_number as bytes,
    e.prompt_tokens::natural_number as prompt_tokens,
    e.completion_tokens::natural_number as completion_tokens,
    'key_' || e.key_id as api_key_id,
    e.end_user,
    case when p.entry_id is null then 'exact' when p.space_id is null then 'normalized' else 'similar' end::cache_match_kind as found_by,
    to_unix_seconds(e.created_at) as created_at,
    to_unix_seconds(e.expires_at) as expires_at
from cache_entries e
left join cache_prompts p on p.entry_id = e.id;

comment on view cached_responses is 'A stored answer, without what it says.';
comment on column cached_responses.model is 'As the client asked for it.';
comment on column cached_responses.provider is 'Who answered.';
comment on column cached_responses.bytes is 'What the entry takes of its project''s cache_bytes.';
comment on column cached_responses.prompt_tokens is 'What a hit saves, as the provider counted it.';
comment on column cached_responses.api_key_id is 'The key that asked for it. Null: it is not known.';
comment on column cached_responses.end_user is 'Whom it was asked for. Null: nobody was named.';
comment on column cached_responses.found_by is 'By the same request alone, an equal normalized prompt, or similar ones, too.';
