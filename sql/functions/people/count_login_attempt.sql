create or replace function count_login_attempt(email text, address text, attempts integer) returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
declare
    window_length constant interval := interval '15 minutes';
    account constant text := fold_email(email);
    pair constant text := 'pair:' || account || ' ' || address;
    -- Failed logins from other addresses do not lock out a user at an address of an earlier login.
    is_known constant boolean := exists (select from login_attempts l where l.subject = 'known:' || account || ' ' || address);
    wait_seconds integer;
begin
    if attempts > 0 then
        -- A fixed order makes two attempts wait for each other instead of deadlocking.
        insert into login_attempts as l (subject, attempts, first_at)
        select s.subject, attempts, now()
        from (values ('account:' || account), ('address:' || address), (pair)) as s (subject)
        order by s.subject
        on conflict (subject) do update
        set attempts = case when l.first_at < now() - window_length then 0 else l.attempts end + excluded.attempts,
            first_at = case when l.first_at < now() - window_length then now() else l.first_at end;
    end if;
    select max(ceil(extract(epoch from l.first_at + window_length - now())))
    into wait_seconds
    from login_attempts l
    join (
        values (pair, 10), ('address:' || address, case when is_known then null else 30 end),
            ('account:' || account, case when is_known then null else 100 end)
    ) as s (subject, most) using (subject)
    where l.first_at > now() - window_length and l.attempts + 1 - attempts > s.most;
    return coalesce(wait_seconds, 0);
end;
$$;

comment on function count_login_attempt(text, text, integer) is 'Counts login attempts (0: none, it only reads), and returns how many seconds to wait before the next: 0 for the first 10 of an account from a client address, 30 of an address and 100 of an account in 15 minutes. From an address where the account has logged in lately, only the first of these limits applies.';
