create or replace function queue_judgements(
    project_ids bigint[],
    context_hashes text[],
    asked_hashes text[],
    entry_hashes text[],
    are_reviews boolean[],
    contexts text[],
    questions text[],
    similarities double precision[]
)
returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
-- As in admit: planning would cost more than running.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    most_of_a_project constant integer := 1000;
begin
    perform set_config('synchronous_commit', 'off', true);

    insert into judge_queue (project_id, context_hash, one_hash, other_hash, asked_hash, entry_hash, is_review, context, asked, similarity)
    select
        n.project_id, n.context_hash, least(n.asked_hash, n.normalized_hash), greatest(n.asked_hash, n.normalized_hash), n.asked_hash,
        n.entry_hash, n.is_review, n.context, n.question, n.similarity
    from (
        select
            g.project_id,
            c.context_hash,
            decode(g.asked_hash, 'hex') as asked_hash,
            e.request_hash as entry_hash,
            c.normalized_hash,
            g.is_review,
            g.context,
            g.question,
            g.similarity,
            row_number() over (partition by g.project_id order by g.at) as place
        from unnest(project_ids, context_hashes, asked_hashes, entry_hashes, are_reviews, contexts, questions, similarities)
            with ordinality as g (project_id, context_hash, asked_hash, entry_hash, is_review, context, question, similarity, at)
        join cache_entries e on e.project_id = g.project_id and e.request_hash = decode(g.entry_hash, 'hex')
        join cache_prompts c on c.entry_id = e.id
        where c.context_hash = decode(g.context_hash, 'hex')
            and c.prompt <> g.question
            -- A review checks again what only the judge has decided.
            and not exists (
                select
                from cache_verdicts v
                where v.project_id = g.project_id
                    and v.context_hash = c.context_hash
                    and v.one_hash = least(decode(g.asked_hash, 'hex'), c.normalized_hash)
                    and v.other_hash = greatest(decode(g.asked_hash, 'hex'), c.normalized_hash)
                    and (v.source <> 'judge' or not g.is_review)
            )
    ) n
    where n.place + (select count(*) from judge_queue q where q.project_id = n.project_id) <= most_of_a_project
    order by n.project_id, n.context_hash, least(n.asked_hash, n.normalized_hash), greatest(n.asked_hash, n.normalized_hash)
    on conflict (project_id, context_hash, one_hash, other_hash) do nothing;
end;
$$;

comment on function queue_judgements(bigint[], text[], text[], text[], boolean[], text[], text[], double precision[]) is
    'Queues pairs of questions for the judge. Each list has one item per pair: its context, the asked question, and the request hash of the entry that it was compared with. Hashes in hex. Skips pairs that are queued already, have a verdict or lost their entry, and pairs beyond the project''s limit.';
