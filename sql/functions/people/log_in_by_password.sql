create or replace function log_in_by_password(
    of_email text,
    verified_hash text,
    token_hash text,
    client_address text,
    client_agent text,
    origin text
) returns bigint
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    -- The lock orders this login with a password change, which ends all sessions of the user.
    perform from users u where u.email = fold_email(of_email) and u.password_hash = verified_hash for no key update;
    if not found then
        raise exception 'the password was changed while it was checked' using errcode = 'no_data_found';
    end if;
    return open_session(of_email, token_hash, client_address, client_agent, origin);
end;
$$;

comment on function log_in_by_password(text, text, text, text, text, text) is 'Opens a session, as open_session(), for a user whose password was verified against this hash. Raises no_data_found if the hash has changed or the user was deleted meanwhile.';
