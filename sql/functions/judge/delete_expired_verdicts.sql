create or replace function delete_expired_verdicts(max_rows integer) returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    forgotten integer;
begin
    with due as materialized (
        select v.*
        from cache_verdicts v
        where v.expires_at <= now()
        order by v.expires_at
        limit max_rows
        for update skip locked
    ),
    -- A verdict lasts as long as any cache entry of its two questions.
    weighed as materialized (
        select d.*, kept.expires_at as kept_until
        from due d
        left join lateral (
            select max(p.expires_at) as expires_at
            from unnest(array[d.one_hash, d.other_hash]) as h (normalized_hash)
            join cache_prompts p on p.name_key = hashtextextended(encode(d.context_hash || h.normalized_hash, 'hex'), d.project_id)
            where p.project_id = d.project_id
                and p.context_hash = d.context_hash
                and p.normalized_hash = h.normalized_hash
                and p.expires_at > now()
        ) kept on true
    ),
    prolonged as (
        update cache_verdicts v
        set expires_at = w.kept_until
        from weighed w
        where (v.project_id, v.context_hash, v.one_hash, v.other_hash, v.source) = (w.project_id, w.context_hash, w.one_hash, w.other_hash, w.source)
            and w.kept_until is not null
    )
    delete from cache_verdicts v
    using weighed w
    where (v.project_id, v.context_hash, v.one_hash, v.other_hash, v.source) = (w.project_id, w.context_hash, w.one_hash, w.other_hash, w.source)
        and w.kept_until is null;
    get diagnostics forgotten = row_count;

    return greatest(
        forgotten,
        delete_rows('semantic_hits', format('served_at < %L', now() - interval '7 days'), max_rows),
        delete_rows('cache_contexts', format('last_at < %L', now() - interval '30 days'), max_rows),
        delete_rows('judge_queue', format('queued_at < %L', now() - interval '1 day'), max_rows)
    );
end;
$$;

comment on function delete_expired_verdicts(integer) is
    'Deletes up to that many verdicts that have expired and have no entry, as many semantic hits older than a week and contexts without a miss for 30 days, and as many pairs that have been queued for the judge for a day; returns the greatest number. Fewer than max_rows means that none are left.';
