create or replace function store_provider_key(
    owner_id bigint,
    provider text,
    sealed bytea,
    last_four text,
    name text,
    weight integer
)
returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
begin
    perform authorize(owner_id, 'owner');
    -- One change at a time per project: versions become visible in order, so that no change is missed.
    perform 1 from projects p where p.id = owner_id for no key update;
    if not found then
        raise exception 'there is no project with id %', owner_id using errcode = 'no_data_found';
    end if;
    if not exists (select from vendors v where v.name = provider) then
        raise exception 'provider % does not exist; providers are: %', quote_for_message(provider), (
            select string_agg(v.name, ', ' order by v.place) from vendors v
        )
            using errcode = 'invalid_parameter_value';
    end if;
    insert into provider_keys as k (project_id, provider, sealed, last_four, name, weight)
    values (owner_id, provider, sealed, last_four, name, coalesce(weight, 1))
    on conflict on constraint provider_keys_pkey do update
    set sealed = excluded.sealed,
        last_four = excluded.last_four,
        weight = coalesce(weight, k.weight),
        updated_at = now(),
        version = default;
    perform audit('provider_key.stored', owner_id, provider, jsonb_build_object('last_four', last_four, 'name', name));
exception
    when check_violation then
        raise exception 'a key''s name must be up to 63 letters, digits, dots, dashes and underscores, a letter or digit first, and its weight a whole number from 1 to 1000'
            using errcode = 'invalid_parameter_value';
end;
$$;

comment on function store_provider_key(bigint, text, bytea, text, text, integer) is 'Stores a project''s key for a direct provider, encrypted by the proxy, in place of an earlier one of this name; used from the next request on. Raises on an unknown project or provider, and on a name or weight that does not fit. Null: weight (it stays, 1 at first).';
