create or replace function import_keys(document jsonb, until timestamptz, out created integer, out changed integer, out unchanged integer)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    differing integer;
begin
    create temporary table given_keys on commit drop as
    select
        p.id as project_id,
        decode(g.hash, 'hex') as hash,
        decode(g.former_of, 'hex') as former_of,
        g.name, g.prefix, coalesce(least(g.created_at, now()), now()) as created_at, g.expires_at, g.blocked, g.requests_per_minute,
        g.tokens_per_minute, g.allowed_models, k.id as known_id, k.is_imported
    from jsonb_to_recordset(document -> 'keys') as g (
        project text, hash text, former_of text, name text, prefix text, created_at timestamptz, expires_at timestamptz, blocked boolean,
        requests_per_minute integer, tokens_per_minute integer, allowed_models text[]
    )
    join projects p on p.imported_id = (document ->> 'gateway') || ':' || g.project
    left join api_keys k on k.imported_hash = decode(g.hash, 'hex');
    -- Without statistics, the statements below would compare each key with each other.
    analyze given_keys;

    -- The limits at the former gateway apply until the last import. A key that was deactivated or rotated here stays so.
    update api_keys k
    set requests_per_minute = g.requests_per_minute,
        tokens_per_minute = g.tokens_per_minute,
        allowed_models = g.allowed_models,
        imported_expires_at = g.expires_at,
        expires_at = case
            when k.imported_expires_at is distinct from g.expires_at then least(g.expires_at, until)
            else k.expires_at
        end,
        deactivated_at = case when g.blocked then coalesce(k.deactivated_at, now()) else k.deactivated_at end
    from given_keys g
    where k.id = g.known_id
        and g.is_imported
        and (
            (k.requests_per_minute, k.tokens_per_minute, k.allowed_models, k.imported_expires_at)
            is distinct from (g.requests_per_minute, g.tokens_per_minute, g.allowed_models, g.expires_at)
            or g.blocked and k.deactivated_at is null
        );
    get diagnostics changed = row_count;

    -- A key that its former gateway no longer has was deleted there.
    update api_keys k
    set deactivated_at = now()
    where k.is_imported
        and k.deactivated_at is null
        and (document ->> 'has_all_keys')::boolean
        and k.project_id in (
            select p.id
            from jsonb_to_recordset(document -> 'projects') as g (id text)
            join projects p on p.imported_id = (document ->> 'gateway') || ':' || g.id
        )
        and not exists (select from given_keys g where g.hash = k.imported_hash);
    get diagnostics differing = row_count;
    changed := changed + differing;
    unchanged := (select count(*) from given_keys g where g.known_id is not null) - changed + differing;

    insert into api_keys (
        project_id, key_hash, imported_hash, prefix, type, name, created_at, expires_at, imported_expires_at, deactivated_at,
        requests_per_minute, tokens_per_minute, allowed_models
    )
    select
        g.project_id, g.hash, g.hash, g.prefix, 'project',
        -- A key that was created here may have the name.
        case
            when exists (select from api_keys k where k.project_id = g.project_id and k.name = g.name and k.deactivated_at is null)
                then left(g.name, 80) || ' (' || left(encode(g.hash, 'hex'), 8) || ')'
            else g.name
        end,
        g.created_at, least(g.expires_at, until), g.expires_at, case when g.blocked then now() end,
        g.requests_per_minute, g.tokens_per_minute, g.allowed_models
    from given_keys g
    where g.known_id is null
    order by g.created_at, g.hash;
    get diagnostics created = row_count;

    -- Former values of keys that were rotated there count as their keys.
    update api_keys k
    set replaced_by = replacing.id
    from given_keys g
    join api_keys replacing on replacing.imported_hash = g.former_of
    where g.known_id is null
        and k.imported_hash = g.hash;
end;
$$;

comment on function import_keys(jsonb, timestamptz) is 'Adds the keys of an import by their hashes, or changes their limits, and deactivates those that are blocked or deleted at their former gateway. See import_accounts(). Null: until (they do not expire here).';
