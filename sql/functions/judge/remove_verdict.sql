create or replace function remove_verdict(project text, verdict_id text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := require_cache_right(project, 'judge');
    removed record;
begin
    delete from cache_verdicts v
    where v.project_id = owner_id
        and format_verdict_id(v) = verdict_id
    returning v.verdict, v.source
    into removed;
    if not found then
        raise exception 'there is no verdict %', quote_for_message(verdict_id) using errcode = 'no_data_found';
    end if;
    -- As in record_feedback(): aliases in Redis may depend on the verdict.
    if removed.verdict = 'same' then
        update projects p set verdict_generation = p.verdict_generation + 1 where p.id = owner_id;
    end if;
    perform audit('cache.verdict_removed', owner_id, verdict_id, jsonb_build_object('verdict', removed.verdict, 'source', removed.source));
end;
$$;

comment on function remove_verdict(text, text) is 'Withdraws the verdict on a pair of questions: from the next request on, the policy decides again. Raises on an unknown project or verdict.';
