create or replace function find_vectors(of_project bigint, by_names bytea[], max_age_seconds integer)
returns table (
    place integer,
    vector bytea,
    prompt_tokens integer,
    response_model text,
    created_at timestamptz,
    expires_at timestamptz
)
language plpgsql
stable
rows 128
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    -- The limit forces an index scan per name, whatever table size the planner estimates. Expiry is checked later, because a plan made
    -- while the table was empty would scan a whole project through the index on expiry.
    select asked.at::integer - 1, found.vector, found.prompt_tokens, found.response_model, found.created_at, found.expires_at
    from unnest(by_names) with ordinality as asked (name, at)
    cross join lateral (
        select v.vector, v.prompt_tokens, v.response_model, v.created_at, v.expires_at
        from cached_vectors v
        where v.project_id = of_project
            and v.name = asked.name
        limit 1
    ) found
    where found.expires_at > now()
        and (max_age_seconds is null or found.created_at >= now() - make_interval(secs => max_age_seconds));
end;
$$;

comment on function find_vectors(bigint, bytea[], integer) is
    'The project''s vectors of these names, each with the position of its name, counted from 0. Null: max_age_seconds (any).';
