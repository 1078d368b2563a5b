create or replace function find_invitation(token text) returns table (
    user_id bigint,
    email text
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select u.id, u.email
    from invitations i
    join users u on u.id = i.user_id
    where i.token_hash = sha256(convert_to(token, 'UTF8'))
        and i.expires_at > now();
$$;

comment on function find_invitation(text) is 'The user of an invitation; no row when it does not exist or has expired.';
