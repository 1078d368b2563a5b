create or replace function presume_expired_spending() returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    expired uuid[] := array(
        select distinct r.id from budget_reservations r where r.expires_at < now() and r.presumed_at is null limit 1000
    );
begin
    -- No record comes that late.
    delete from budget_reservations r where r.presumed_at < now() - interval '1 day';

    -- The same order as in reserve_spending(), for the same reason.
    perform 1
    from budget_periods c
    where (c.budget_id, c.begins) in (select r.budget_id, r.begins from budget_reservations r where r.id = any (expired))
    order by c.budget_id, c.begins
    for update;

    with presumed as (
        update budget_reservations r
        set presumed_at = now(),
            expires_at = 'infinity'
        where r.id = any (expired)
            and r.expires_at < now()
        returning r.budget_id, r.begins, r.amount
    ),
    summed as (
        select p.budget_id, p.begins, sum(p.amount) as amount
        from presumed p
        group by p.budget_id, p.begins
    )
    update budget_periods c
    set reserved = greatest(0, c.reserved - s.amount),
        spent = c.spent + s.amount
    from summed s
    where c.budget_id = s.budget_id
        and c.begins = s.begins;
end;
$$;

comment on function presume_expired_spending() is
    'Takes what processes had reserved that are gone for spent: their requests may have cost as much. A record that comes within a day after all puts right what its request cost.';
