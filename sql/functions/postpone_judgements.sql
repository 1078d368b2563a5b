create or replace function postpone_judgements(of_project bigint, taken bigint, was_tried boolean, for_seconds integer) returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    until timestamptz := now() + make_interval(secs => for_seconds);
begin
    update judge_queue q
    set not_before = until,
        attempts = case when was_tried then q.attempts else q.attempts - 1 end
    where q.id = taken;

    -- Of the others, those that nobody holds just now.
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

comment on function postpone_judgements(bigint, bigint, boolean, integer) is
    'Puts back a pair that take_judgements() gave, and leaves the judge of its project alone for so many seconds: no pair of its is taken before. One that was not tried is as if it had not been taken.';
