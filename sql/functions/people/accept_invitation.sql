create or replace function accept_invitation(token text, password_hash text, client_address text default null) returns bigint
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
declare
    invited bigint;
    used_for text;
begin
    delete from invitations i
    where i.token_hash = sha256(convert_to(token, 'UTF8')) and i.expires_at > now()
    returning i.user_id, i.purpose into invited, used_for;
    if invited is null then
        raise exception 'this invitation does not exist, was used, or has expired; ask an administrator for another'
            using errcode = 'no_data_found';
    end if;
    update users u set password_hash = accept_invitation.password_hash where u.id = invited;
    -- Ends what could still log in with the old password, or set another one.
    delete from invitations i where i.user_id = invited;
    delete from sessions s where s.user_id = invited;
    if client_address is not null then
        perform set_config('proxy_caller.actor', (select u.email from users u where u.id = invited), true);
        perform set_config('proxy_caller.user_id', invited::text, true);
        perform set_config('proxy_caller.address', client_address, true);
    end if;
    if used_for = 'password_reset' then
        perform audit('user.updated', null, 'user_' || invited, '{"password": "reset"}');
    else
        perform audit('invite.accepted', null, 'user_' || invited);
    end if;
    return invited;
end;
$$;

comment on function accept_invitation(text, text, text) is 'Uses up an invitation or a password reset: sets the user''s password hash, ends sessions and other tokens, and returns the user''s id. Raises no_data_found when there is no such invitation. Null: client_address (an operator accepts it).';
