create or replace function claim_judgements(max_rows integer)
returns table (
    id bigint,
    project_id bigint,
    project_name text,
    context_hash text,
    asked_hash text,
    cached_hash text,
    is_review boolean,
    context text,
    asked text,
    cached text,
    similarity double precision,
    expires_at timestamptz,
    semantic_judge_model text,
    direct_providers text[],
    provider_keys_version bigint
)
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    with due as materialized (
        select q.*
        from judge_queue q
        where q.attempts < 5
            and q.not_before <= now()
            and q.queued_at > now() - interval '1 day'
        order by q.not_before
        limit max_rows
        for update skip locked
    ),
    wanted as materialized (
        select d.*, p.name, p.semantic_judge_model, c.prompt, c.normalized_hash, c.expires_at
        from due d
        join projects p on p.id = d.project_id
        join cache_entries e on e.project_id = d.project_id and e.request_hash = d.entry_hash
        join cache_prompts c on c.entry_id = e.id
        where p.semantic_judge_model <> ''
            and case when d.is_review then p.semantic_verify_ratio > 0 else p.semantic_judge = 'learn' and p.semantic_policy = 'judged' end
            -- The entry still has the question that was queued.
            and c.context_hash = d.context_hash
            and c.normalized_hash in (d.one_hash, d.other_hash)
            and c.expires_at > now()
    ),
    pointless as (
        delete from judge_queue q
        using due d
        where q.id = d.id
            and d.id not in (select w.id from wanted w)
    ),
    taken as (
        update judge_queue q
        set attempts = q.attempts + 1,
            not_before = now() + interval '2 minutes'
        from wanted w
        where q.id = w.id
    )
    select
        w.id, w.project_id, w.name, encode(w.context_hash, 'hex'), encode(w.asked_hash, 'hex'), encode(w.normalized_hash, 'hex'), w.is_review,
        w.context, w.asked, w.prompt, w.similarity, w.expires_at, w.semantic_judge_model, coalesce(direct.providers, '{}'),
        coalesce(direct.highest_version, 0)
    from wanted w
    -- As in resolved_keys.
    left join lateral (
        select array_agg(pk.provider order by pk.provider) as providers, max(pk.version) as highest_version
        from provider_keys pk
        where pk.project_id = w.project_id
    ) direct on true;
$$;

comment on function claim_judgements(integer) is
    'Claims up to that many queued pairs for two minutes, with the data for calling the judge: settle_judgement() ends a claim, requeue_judgements() returns the pair to the queue. Pairs whose project has turned the judge off, or without an entry, are removed.';
