create or replace function count_login_attempt(email text, address text) returns integer
language plpgsql
volatile
set search_path = public, pg_temp
as $$
#variable_conflict use_variable
declare
    window_length constant interval := interval '15 minutes';
    wait_seconds integer;
begin
    -- In a fixed order, so that two attempts wait for each other rather than deadlock.
    with counted as (
        insert into login_attempts as l (subject, attempts, first_at)
        select s.subject, 1, now()
        from (values ('account:' || lower(btrim(email))), ('address:' || address)) as s (subject)
        order by s.subject
        on conflict (subject) do update
        set attempts = case when l.first_at < now() - window_length then 1 else l.attempts + 1 end,
            first_at = case when l.first_at < now() - window_length then now() else l.first_at end
        returning l.subject, l.attempts, l.first_at
    )
    select max(ceil(extract(epoch from c.first_at + window_length - now())))
    into wait_seconds
    from counted c
    where c.attempts > case when c.subject like 'account:%' then 10 else 30 end;
    return coalesce(wait_seconds, 0);
end;
$$;

comment on function count_login_attempt(text, text) is 'Counts a login attempt and returns how many seconds to wait before it may be made: 0 for the first 10 of an account and the first 30 of a client address in 15 minutes.';
