create or replace function requeue_judgements(of_project bigint, queued_id bigint, counts_attempt boolean, for_seconds integer) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    until timestamptz := now() + make_interval(secs => for_seconds);
begin
    update judge_queue q
    set not_before = until,
        attempts = case when counts_attempt then q.attempts else q.attempts - 1 end
    where q.id = queued_id;

    -- The project's other pairs, except those that are locked.
    update judge_queue q
    set not_before = until
    where q.id = any (array(
        select x.id
        from judge_queue x
        where x.project_id = of_project
            and x.not_before < until
        order by x.id
        for update skip locked
    ));
end;
$$;

comment on function requeue_judgements(bigint, bigint, boolean, integer) is
    'Returns a pair from claim_judgements() to the queue, and delays all pairs of its project by that many seconds. Without counts_attempt, the claim does not count as an attempt.';
