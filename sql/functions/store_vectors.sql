create or replace function store_vectors(
    of_project bigint,
    under_names bytea,
    vectors bytea,
    lengths integer[],
    token_counts integer[],
    model_names text[],
    ttl_seconds integer
)
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
    insert into cached_vectors as v (project_id, name, vector, prompt_tokens, answered_as, expires_at)
    select
        of_project,
        substring(under_names from (given.place::integer - 1) * 32 + 1 for 32) as name,
        substring(vectors from given.ends::integer - given.length + 1 for given.length),
        given.prompt_tokens,
        given.answered_as,
        now() + make_interval(secs => ttl_seconds)
    from (
        select g.*, sum(g.length) over (order by g.place) as ends
        from unnest(lengths, token_counts, model_names) with ordinality as g (length, prompt_tokens, answered_as, place)
    ) given
    -- One order for all, so that two batches with inputs in common wait for each other rather than deadlock.
    order by name
    on conflict (project_id, name) do update
    set vector = excluded.vector,
        prompt_tokens = excluded.prompt_tokens,
        answered_as = excluded.answered_as,
        created_at = excluded.created_at,
        expires_at = excluded.expires_at;
$$;

comment on function store_vectors(bigint, bytea, bytea, integer[], integer[], text[], integer) is
    'Stores or replaces vectors of a project. Names (32 bytes each) and vectors stand one behind the other, with the length, prompt tokens and answering model of each in lists; no name may come twice.';
