create or replace function open_session(of_email text, token_hash text, client_address text, client_agent text, origin text) returns bigint
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    opened_for users;
    pair text;
begin
    -- Logins of one user take turns. The lock order is always users, login_attempts, sessions.
    select * into opened_for from users u where u.email = fold_email(of_email) for no key update;
    if opened_for.id is null then
        raise exception 'there is no such user' using errcode = 'no_data_found';
    end if;
    pair := opened_for.email || ' ' || origin;
    perform from login_attempts l where l.subject in ('account:' || opened_for.email, 'pair:' || pair) order by l.subject for update;
    delete from login_attempts l where l.subject in ('account:' || opened_for.email, 'pair:' || pair);
    insert into login_attempts (subject, attempts, first_at)
    values ('known:' || pair, 0, now())
    on conflict (subject) do update set first_at = now();
    delete from sessions s where s.user_id = opened_for.id and s.expires_at <= now();
    insert into sessions (user_id, token_hash, address, user_agent, expires_at)
    values (opened_for.id, decode(open_session.token_hash, 'hex'), client_address, left(client_agent, 300), now() + interval '30 days');
    perform set_config('proxy_caller.actor', opened_for.email, true);
    perform set_config('proxy_caller.user_id', opened_for.id::text, true);
    perform set_config('proxy_caller.address', client_address, true);
    perform audit('login.succeeded', null, 'user_' || opened_for.id);
    return opened_for.id;
end;
$$;

comment on function open_session(text, text, text, text, text) is 'Opens a session for a user whose password was right, under the hex SHA-256 of its cookie, for 30 days at most. Deletes failed attempts, and records the origin (the address that limits count by) as one where the user has logged in.';
