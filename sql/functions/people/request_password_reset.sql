create or replace function request_password_reset(of_email text, client_address text) returns table (
    email text,
    token text
)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
declare
    secret constant text := generate_secret('lgw_reset_');
    of_user bigint;
begin
    insert into invitations as i (token_hash, user_id, purpose, expires_at)
    select sha256(convert_to(secret, 'UTF8')), u.id, 'password_reset', now() + interval '1 hour'
    from users u
    where u.email = fold_email(of_email)
        -- Without a password, a user accepts an invitation or logs in with the identity provider.
        and u.password_hash is not null
    on conflict (user_id, purpose) do update
    set token_hash = excluded.token_hash,
        created_at = now(),
        expires_at = excluded.expires_at
    -- At most one mail in five minutes, whoever asks.
    where i.created_at <= now() - interval '5 minutes'
    returning i.user_id into of_user;
    if of_user is null then
        return;
    end if;
    perform set_config('proxy_caller.actor', fold_email(of_email), true);
    perform set_config('proxy_caller.address', client_address, true);
    perform audit('password_reset.sent', null, 'user_' || of_user);
    return query select u.email, secret from users u where u.id = of_user;
end;
$$;

comment on function request_password_reset(text, text) is 'Creates a token, valid for an hour and one use, with which the user of this address sets a new password, and returns it with the address to mail it to: the user''s own, whatever was given. Only its hash is stored. No row: there is no such user with a password, or the last token is less than five minutes old.';
