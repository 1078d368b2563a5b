create or replace function upsert_stored_object(
    of_project bigint,
    object_id text,
    of_collection text,
    of_provider text,
    for_purpose text default null,
    holds_requests integer default 0,
    object text default null,
    expires_at timestamptz default null,
    models text[] default null,
    tags jsonb default null,
    asked_for text default null
)
returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    insert into stored_objects as k (project_id, id, collection, provider, purpose, requests, object, expires_at, models, tags, end_user)
    values (of_project, object_id, of_collection, of_provider, for_purpose, holds_requests, object, expires_at, models, tags, asked_for)
    on conflict (project_id, id) do update
    set collection = excluded.collection,
        object = coalesce(excluded.object, k.object),
        expires_at = coalesce(excluded.expires_at, k.expires_at);
$$;

comment on function upsert_stored_object(bigint, text, text, text, text, integer, text, timestamptz, text[], jsonb, text) is 'Records an object for the project that created it, or updates what its provider reports about it; a null changes nothing. For a batch''s input, holds_requests and models (null: they were not read); for a batch, the tags of the request that started it.';
