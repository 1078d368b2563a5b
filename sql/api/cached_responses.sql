create or replace view cached_responses with (security_invoker = true) as
select
    e.id as _id,
    e.project_id as _project_id,
    e.model as _model,
    e.namespace as _namespace,
    v.name || '@' || v.version as _version,
    e.created_at as _created_at,
    e.key_id as _key_id,
    e.end_user as _end_user,
    'entry_' || e.id as id,
    e.endpoint,
    e.model,
    e.provider,
    e.namespace,
    v.name || '@' || v.version as version,
    e.bytes::natural_number as bytes,
    e.prompt_tokens::natural_number as prompt_tokens,
    e.completion_tokens::natural_number as completion_tokens,
    'key_' || e.key_id as api_key_id,
    e.end_user,
    case when p.entry_id is null then 'exact' when p.space_id is null then 'normalized' else 'similar' end::cache_match_kind as found_by,
    to_unix_seconds(e.created_at) as created_at,
    to_unix_seconds(e.expires_at) as expires_at
from cache_entries e
left join cache_prompts p on p.entry_id = e.id
left join cache_versions v on v.id = e.version_id;

comment on view cached_responses is 'A cached response, without its content.';
comment on column cached_responses.version is 'The client''s X-Proxy-Cache-Version. Null: the request named none.';
comment on column cached_responses.api_key_id is 'The key that sent the request. Null: it is not known.';
comment on column cached_responses.end_user is 'The end user of the request. Null: it named none.';
comment on column cached_responses.found_by is 'What finds the entry: only the exact request, also an equal normalized prompt, or also similar prompts.';
