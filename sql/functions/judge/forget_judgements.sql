create or replace function forget_judgements(at_most integer) returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    forgotten integer;
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
    return forgotten;
end;
$$;

comment on function forget_judgements(integer) is 'Deletes up to that many pairs that have been queued for the judge for a day, and returns how many.';
