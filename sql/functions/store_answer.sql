create or replace function store_answer(
    of_project bigint,
    under_request_hash bytea,
    in_namespace text,
    for_endpoint text,
    for_model text,
    by_provider text,
    answer text,
    used_prompt_tokens integer,
    used_completion_tokens integer,
    ttl_seconds integer,
    under_context_hash bytea,
    under_normalized_hash bytea,
    asked_prompt text,
    in_space integer,
    vector halfvec
)
returns bigint
language plpgsql
volatile
set search_path = public, pg_temp
-- As in admit: planning would cost more than running.
set plan_cache_mode = force_generic_plan
as $$
declare
    -- Groups up to this size are compared exactly, through a btree, faster than a graph of theirs would answer.
    exact_group_size constant integer := 2000;
    expiry timestamptz := now() + make_interval(secs => ttl_seconds);
    stored_id bigint;
    beyond boolean := false;
begin
    -- A crash may forget the last moment's answers, which are then asked for again; the client would wait for the disk.
    perform set_config('synchronous_commit', 'off', true);

    insert into cache_entries as e (
        project_id, request_hash, namespace, endpoint, model, provider, response, prompt_tokens, completion_tokens, expires_at
    )
    values (
        of_project, under_request_hash, in_namespace, for_endpoint, for_model, by_provider, answer, used_prompt_tokens, used_completion_tokens, expiry
    )
    on conflict (project_id, request_hash) do update
    set response = excluded.response,
        provider = excluded.provider,
        prompt_tokens = excluded.prompt_tokens,
        completion_tokens = excluded.completion_tokens,
        created_at = excluded.created_at,
        expires_at = excluded.expires_at
    returning e.id into stored_id;

    if under_context_hash is null then
        delete from cache_prompts where entry_id = stored_id;
        return stored_id;
    end if;

    if in_space is not null then
        select count(*) >= exact_group_size into beyond
        from (
            select 1
            from cache_prompts p
            where p.project_id = of_project
                and p.context_hash = under_context_hash
                and p.space_id = in_space
                and not p.in_graph
            limit exact_group_size
        ) first_of_group;
    end if;

    insert into cache_prompts as p (
        entry_id, project_id, context_hash, normalized_hash, prompt, space_id, embedding, in_graph, created_at, expires_at
    )
    values (
        stored_id, of_project, under_context_hash, under_normalized_hash, asked_prompt, in_space, vector, beyond, now(), expiry
    )
    on conflict (entry_id) do update
    set context_hash = excluded.context_hash,
        normalized_hash = excluded.normalized_hash,
        prompt = excluded.prompt,
        space_id = excluded.space_id,
        embedding = excluded.embedding,
        created_at = excluded.created_at,
        expires_at = excluded.expires_at;
    return stored_id;
end;
$$;

comment on function store_answer(bigint, bytea, text, text, text, text, text, integer, integer, integer, bytea, bytea, text, integer, halfvec) is
    'Stores or replaces the answer to a request and returns its id. With a context hash it can also be found by its prompt, and with a space and a vector by similar ones; without, by the exact request alone.';
