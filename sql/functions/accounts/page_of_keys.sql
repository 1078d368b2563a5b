create or replace function page_of_keys(of_project bigint, only_key bigint, include_inactive boolean, after_id bigint, page_size integer)
returns table (
    id bigint,
    prefix text,
    type text,
    name text,
    state text,
    created_at timestamptz,
    expires_at timestamptz,
    deactivated_at timestamptz,
    last_used_at timestamptz,
    requests_per_minute integer,
    tokens_per_minute integer,
    allowed_models text[],
    allowed_addresses cidr[],
    replaced_by bigint
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select
        k.id,
        k.prefix,
        k.type,
        k.name,
        case
            when k.deactivated_at is not null then 'deactivated'
            when k.expires_at <= now() then 'expired'
            else 'active'
        end,
        k.created_at,
        k.expires_at,
        k.deactivated_at,
        k.last_used_at,
        k.requests_per_minute,
        k.tokens_per_minute,
        k.allowed_models,
        k.allowed_addresses,
        k.replaced_by
    from api_keys k
    where k.project_id = of_project
        and (only_key is null and k.session_id is null or k.id = only_key)
        and (include_inactive or k.deactivated_at is null)
        and (after_id is null or k.id > after_id)
    order by k.id
    limit page_size;
$$;

comment on function page_of_keys(bigint, bigint, boolean, bigint, integer) is 'Keys of a project, oldest first, after a given one, without those of sessions; state: active, expired, deactivated; with the key''s own limits, null for none, and the key for which a former value stands.';
