create or replace function log_in_by_email(of_email text, token_hash text, client_address text, client_agent text) returns bigint
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
    if not exists (select from users u where u.email = lower(btrim(of_email))) then
        begin
            perform set_config('model_proxy.actor', lower(btrim(of_email)), true);
            perform set_config('model_proxy.address', client_address, true);
            perform create_user(of_email, 'reader');
        exception
            -- Another request, for example in another tab, has just created the user.
            when unique_violation then null;
        end;
    end if;
    return open_session(of_email, token_hash, client_address, client_agent);
end;
$$;

comment on function log_in_by_email(text, text, text, text) is
    'open_session() for a user authenticated by an identity provider, which has verified that the address is theirs. An unknown user becomes a reader, who sees nothing until a project or an administrator permits it. Returns the user''s id.';
