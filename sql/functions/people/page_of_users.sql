create or replace function page_of_users(only_user bigint, of_emails text[], after_id bigint, page_size integer)
returns table (
    id bigint,
    email text,
    role text,
    created_at timestamptz
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select u.id, u.email, u.role, u.created_at
    from users u
    where (only_user is null or u.id = only_user)
        and (of_emails is null or u.email = any (of_emails))
        and (after_id is null or u.id > after_id)
    order by u.id
    limit page_size;
$$;

comment on function page_of_users(bigint, text[], bigint, integer) is 'Users that the current user may see, by id, after a given one.';
