create or replace function record_feedback(
    of_project bigint,
    by_request_id text,
    given text,
    within_scopes bytea[] default null
)
returns text
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    hit record;
    said text := case given when 'right' then 'same' else 'different' end;
    cached_hash bytea;
begin
    select h.asked_hash, h.entry_hash, h.similarity, h.difference, h.reason, h.is_shadow, h.end_user into hit
    from semantic_hits h
    where h.project_id = of_project
        and h.request_id = by_request_id
        and (within_scopes is null or h.scope_hash = any (within_scopes))
    order by h.served_at desc
    limit 1;
    if not found then
        return 'unknown';
    end if;

    select
        case
            when store_verdict(
                of_project, p.context_hash, hit.asked_hash, p.normalized_hash, 'person', said, p.expires_at, hit.similarity, hit.difference,
                nullif(array_remove(array[hit.end_user, e.end_user], null), '{}')
            )
                then p.normalized_hash
        end
    into cached_hash
    from cache_entries e
    join cache_prompts p on p.entry_id = e.id
    where e.project_id = of_project
        and e.request_hash = hit.entry_hash;
    if cached_hash is null then
        return 'gone';
    end if;

    -- Redis cannot be reached from here. A new generation invalidates aliases there, which were created under an earlier one, and makes
    -- lookups search for verdicts.
    update projects p set verdict_generation = p.verdict_generation + 1 where p.id = of_project;
    if given = 'wrong' and hit.reason <> 'undecided' and not hit.is_shadow then
        perform raise_event(
            of_project, 'cache.wrong_hit',
            jsonb_build_object('request_id', by_request_id, 'reason', hit.reason, 'similarity', hit.similarity),
            by_request_id
        );
    end if;
    return 'noted';
end;
$$;

comment on function record_feedback(bigint, text, text, bytea[]) is
    'Stores a person''s verdict (wrong or right) on the semantic hit or near miss of this request. wrong separates the pair from the next request on, in every context; right serves one for the other, in their context. It applies to hits whose semantic_hits.scope_hash is one of within_scopes, and within that scope. Null: within_scopes (any: for members and operators). Returns noted; unknown if there is no such hit; gone if its entry is no longer stored, and so is not served any more.';
