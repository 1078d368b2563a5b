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
            -- Somebody was faster: the same user, in another tab.
            when unique_violation then null;
        end;
    end if;
    return open_session(of_email, token_hash, client_address, client_agent);
end;
$$;

comment on function log_in_by_email(text, text, text, text) is
    'open_session() for whom an identity provider vouched for: it has verified that the address is theirs. Somebody unknown becomes a reader, who sees nothing until a project or an administrator lets them. Returns the user''s id.';
