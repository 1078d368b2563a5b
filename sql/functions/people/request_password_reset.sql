create or replace function request_password_reset(of_email text) returns text
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    token constant text := generate_secret('lgw_reset_');
    of_user bigint;
begin
    insert into invitations as i (token_hash, user_id, purpose, expires_at)
    select sha256(convert_to(token, 'UTF8')), u.id, 'password_reset', now() + interval '1 hour'
    from users u
    where u.email = lower(btrim(of_email))
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
        return null;
    end if;
    perform audit('password_reset.sent', null, 'user_' || of_user);
    return token;
end;
$$;

comment on function request_password_reset(text) is 'Creates and returns a token, valid for an hour and one use, with which the user of this address sets a new password. Only its hash is stored. Null: result (there is no such user with a password, or the last token is less than five minutes old).';
