create or replace function revoke_identity_sessions(of_issuer text, of_subject text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    person users;
    closed integer;
begin
    select u.* into person from user_identities i join users u on u.id = i.user_id
    where i.issuer = of_issuer and i.subject = of_subject;
    delete from sessions s where s.user_id = person.id;
    get diagnostics closed = row_count;
    if closed > 0 then
        perform set_config('proxy_caller.actor', person.email, true);
        perform audit('logout.succeeded', null, 'user_' || person.id, jsonb_build_object('sessions', closed));
    end if;
end;
$$;

comment on function revoke_identity_sessions(text, text) is 'Ends all sessions of a person who may no longer log in because of the groups or the domain of the e-mail address at the identity provider.';
