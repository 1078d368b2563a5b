create or replace function delete_expired_responses(at_most integer) returns integer
language sql
volatile
set search_path = public, pg_temp
as $$
    with deleted as (
        delete from kept_responses k
        where k.ctid = any (array(
            select e.ctid
            from kept_responses e
            where e.expires_at <= now()
            order by e.expires_at
            limit at_most
            for update skip locked
        ))
        returning true
    )
    select count(*)::integer from deleted;
$$;

comment on function delete_expired_responses(integer) is 'Deletes kept responses whose time is over, and returns how many.';
