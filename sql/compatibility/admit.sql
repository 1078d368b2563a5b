create or replace function admit(key_hashes text[], wanted integer[])
returns table (
    ordinal integer,
    verdict text,
    granted integer,
    key_id bigint,
    key_type text,
    key_prefix text,
    project_id bigint,
    project_name text,
    month date,
    requests_per_minute integer,
    requests_per_minute_per_address integer,
    semantic_enabled boolean,
    semantic_threshold double precision,
    semantic_guards boolean,
    cache_ttl_seconds integer,
    cache_generation integer,
    direct_providers text[],
    provider_keys_version bigint,
    fallbacks text[]
)
language sql
volatile
set search_path = public, pg_temp
as $$
    select
        a.ordinal,
        a.verdict,
        a.granted,
        (a.account).key_id,
        (a.account).key_type,
        (a.account).key_prefix,
        (a.account).project_id,
        (a.account).project_name,
        a.month,
        (a.account).requests_per_minute,
        (a.account).requests_per_minute_per_address,
        (a.account).semantic_enabled,
        (a.account).semantic_threshold,
        (a.account).semantic_guards,
        (a.account).cache_ttl_seconds,
        (a.account).cache_generation,
        coalesce((a.account).direct_providers, '{}'),
        coalesce((a.account).provider_keys_version, 0),
        coalesce((a.account).fallbacks, '{}')
    from admit(key_hashes, wanted, null, null) a;
$$;

comment on function admit(text[], integer[]) is 'As the previous release calls it.';
