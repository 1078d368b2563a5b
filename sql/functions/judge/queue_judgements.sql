create or replace function queue_judgements(pairs json) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
-- As in admit(): planning would cost more than running.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    most_of_a_project constant integer := 1000;
begin
    perform set_config('synchronous_commit', 'off', true);

    insert into judge_queue (project_id, context_hash, one_hash, other_hash, asked_hash, entry_hash, is_review, context, asked, similarity, end_user)
    select
        n.project_id, n.context_hash, least(n.asked_hash, n.normalized_hash), greatest(n.asked_hash, n.normalized_hash), n.asked_hash,
        n.entry_hash, n.is_review, n.context, n.asked, n.similarity, n.end_user
    from (
        select
            g.project_id,
            c.context_hash,
            g.asked_hash,
            e.request_hash as entry_hash,
            c.normalized_hash,
            g.is_review,
            g.context,
            g.asked,
            g.similarity,
            g.end_user,
            row_number() over (partition by g.project_id order by g.ordinality) as place
        from json_populate_recordset(null::judge_queue, pairs) with ordinality as g
        join cache_entries e on e.project_id = g.project_id and e.request_hash = g.entry_hash
        join cache_prompts c on c.entry_id = e.id
        where c.context_hash = g.context_hash
            and c.prompt <> g.asked
            -- A review covers only pairs that the judge alone has decided.
            and not exists (
                select
                from cache_verdicts v
                where v.project_id = g.project_id
                    and v.context_hash = c.context_hash
                    and v.one_hash = least(g.asked_hash, c.normalized_hash)
                    and v.other_hash = greatest(g.asked_hash, c.normalized_hash)
                    and (v.source <> 'judge' or not g.is_review)
            )
    ) n
    where n.place + (select count(*) from judge_queue q where q.project_id = n.project_id) <= most_of_a_project
    order by n.project_id, n.context_hash, least(n.asked_hash, n.normalized_hash), greatest(n.asked_hash, n.normalized_hash)
    on conflict (project_id, context_hash, one_hash, other_hash) do nothing;
end;
$$;

comment on function queue_judgements(json) is
    'Queues pairs of questions for the judge: objects with columns of judge_queue, namely project_id, context_hash, asked_hash, entry_hash (of the entry that the question was compared with), is_review, context, asked, similarity, end_user. Skips pairs that are queued already, have a verdict or lost their entry, and pairs beyond the project''s limit.';
