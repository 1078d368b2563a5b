create or replace function note_feedback(of_project bigint, by_request_id text, given text) returns text
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    hit record;
    said text := case given when 'right' then 'same' else 'different' end;
    cached_hash bytea;
begin
    select h.asked_hash, h.entry_hash, h.similarity, h.difference, h.reason, h.is_shadow into hit
    from semantic_hits h
    where h.project_id = of_project
        and h.request_id = by_request_id;
    if not found then
        return 'unknown';
    end if;

    select
        case
            when store_verdict(of_project, p.context_hash, hit.asked_hash, p.normalized_hash, 'person', said, p.expires_at, hit.similarity, hit.difference)
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

    -- Redis cannot be reached from here: aliases there were made under an earlier generation, and become invalid.
    if given = 'wrong' then
        update projects p set verdict_generation = p.verdict_generation + 1 where p.id = of_project;
        if hit.reason <> 'undecided' and not hit.is_shadow then
            perform raise_event(
                of_project, 'cache.wrong_hit',
                jsonb_build_object('request_id', by_request_id, 'reason', hit.reason, 'similarity', hit.similarity),
                by_request_id
            );
        end if;
    end if;
    return 'noted';
end;
$$;

comment on function note_feedback(bigint, text, text) is
    'Stores a person''s verdict (wrong or right) about the semantic hit or near miss of this request. wrong keeps the pair apart from the next request on; right serves one for the other. Returns noted; unknown when no such hit is known; gone when its entry is no longer stored, and so is not served any more.';
