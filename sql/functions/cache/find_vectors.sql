create or replace function find_vectors(of_project bigint, by_names bytea, max_age_seconds integer)
returns table (
    place integer,
    vector bytea,
    prompt_tokens integer,
    answered_as text,
    created_at timestamptz,
    expires_at timestamptz
)
language sql
stable
rows 128
set search_path = public, pg_temp
as $$
    -- The limit makes this an index scan per name, whatever the planner's estimate of the table's size. Expiry is checked later,
    -- because a plan made while the table was empty would walk a whole project through the index by expiry.
    select asked.place, found.vector, found.prompt_tokens, found.answered_as, found.created_at, found.expires_at
    from generate_series(0, octet_length(by_names) / 32 - 1) as asked (place)
    cross join lateral (
        select v.vector, v.prompt_tokens, v.answered_as, v.created_at, v.expires_at
        from cached_vectors v
        where v.project_id = of_project
            and v.name = substring(by_names from asked.place * 32 + 1 for 32)
        limit 1
    ) found
    where found.expires_at > now()
        and (max_age_seconds is null or found.created_at >= now() - make_interval(secs => max_age_seconds));
$$;

comment on function find_vectors(bigint, bytea, integer) is
    'The project''s vectors of these names (32 bytes each, concatenated), each with the place of its name, counted from 0; a null age accepts any.';
