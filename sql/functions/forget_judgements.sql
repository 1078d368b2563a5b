create or replace function forget_judgements(at_most integer) returns integer
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    forgotten integer;
    more integer;
begin
    delete from judge_queue q
    where q.id = any (array(
        select x.id
        from judge_queue x
        where x.queued_at < now() - interval '1 day'
        order by x.queued_at
        limit at_most
        for update skip locked
    ));
    get diagnostics forgotten = row_count;

    -- A person's verdict is kept.
    delete from learned_equivalences q
    where q.ctid = any (array(
        select x.ctid
        from learned_equivalences x
        where x.learned_at is null
            and x.noted_at < now() - case when x.withdrawn_at is null then interval '30 days' else interval '1 year' end
            and x.withdrawn_by is distinct from 'person'
        order by x.noted_at
        limit at_most
        for update skip locked
    ));
    get diagnostics more = row_count;
    return greatest(forgotten, more);
end;
$$;

comment on function forget_judgements(integer) is
    'Deletes up to that many pairs that have been queued for the judge for a day, and as many exchanges of words without a new verdict for a month (a year, if a verdict was against them); returns the greater number.';
