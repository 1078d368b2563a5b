create or replace function create_invitation(of_user bigint) returns text
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    token constant text := generate_secret('lgw_invite_');
begin
    insert into invitations as i (token_hash, user_id, expires_at)
    select sha256(convert_to(token, 'UTF8')), u.id, now() + interval '7 days'
    from users u
    where u.id = of_user
    on conflict (user_id, purpose) do update
    set token_hash = excluded.token_hash,
        created_at = now(),
        expires_at = excluded.expires_at;
    if not found then
        raise exception 'user user_% does not exist', of_user using errcode = 'no_data_found';
    end if;
    perform audit('invite.sent', null, 'user_' || of_user);
    return token;
end;
$$;

comment on function create_invitation(bigint) is 'Creates an invitation without a permission check, which callers must make; see invite_user().';
