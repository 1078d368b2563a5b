create or replace function log_in_by_identity(
    of_issuer text,
    of_subject text,
    of_email text,
    user_role text,
    token_hash text,
    client_address text,
    client_agent text,
    origin text
) returns bigint
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    address constant text := fold_email(of_email);
    person users;
    user_id bigint;
begin
    perform set_config('proxy_caller.actor', address, true);
    perform set_config('proxy_caller.address', client_address, true);
    -- Two concurrent first logins of one person, for example in two tabs, take turns.
    perform pg_advisory_xact_lock(hashtext('model_proxy identity'), hashtext(of_issuer || ' ' || of_subject));
    select u.* into person from user_identities i join users u on u.id = i.user_id
    where i.issuer = of_issuer and i.subject = of_subject;
    if person.id is null then
        begin
            perform create_user(address, coalesce(user_role, 'reader'));
        exception
            when unique_violation then null;
        end;
        select u.* into person from users u where u.email = address;
        begin
            insert into user_identities (issuer, subject, user_id) values (of_issuer, of_subject, person.id);
        exception
            when unique_violation then
                raise exception 'this address belongs to another person at the identity provider' using errcode = 'no_data_found';
        end;
        -- The inviting user may have accepted the invitation. From now on, only the invited person has access.
        if person.role = 'reader' then
            update users u set password_hash = null where u.id = person.id;
            delete from invitations i where i.user_id = person.id;
            delete from sessions s where s.user_id = person.id;
        end if;
    end if;
    if user_role <> person.role and can_lose_role(person.id, user_role) then
        perform set_user_role(person.id, user_role);
    end if;
    user_id := open_session(person.email, token_hash, client_address, client_agent, origin);
    update sessions s
    set expires_at = now() + interval '12 hours'
    where s.token_hash = decode(log_in_by_identity.token_hash, 'hex');
    return user_id;
end;
$$;

comment on function log_in_by_identity(text, text, text, text, text, text, text, text) is
    'open_session(), for at most 12 hours, for a person whom an identity provider has authenticated; the provider must then confirm again that the person may log in. issuer and subject identify the person; the verified address finds or creates the user only the first time, and ends a password, an invitation and sessions that a reader had before. A role, if given, becomes the user''s, unless the last administrator would lose theirs; without one, a new user becomes a reader, who sees nothing until a project or an administrator permits it. Raises no_data_found when the address is another person''s. Returns the user''s id. Null: user_role (it stays).';
