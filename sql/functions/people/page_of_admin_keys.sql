create or replace function page_of_admin_keys(only_key bigint, newest_first boolean, after_id bigint, page_size integer)
returns table (
    id bigint,
    prefix text,
    name text,
    created_at timestamptz,
    expires_at timestamptz,
    last_used_at timestamptz,
    user_id bigint,
    email text,
    role text
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select k.id, k.prefix, k.name, k.created_at, k.expires_at, k.last_used_at, u.id, u.email, u.role
    from admin_keys k
    join users u on u.id = k.user_id
    where (only_key is null or k.id = only_key)
        and (after_id is null or case when newest_first then k.id < after_id else k.id > after_id end)
    order by case when newest_first then -k.id else k.id end
    limit page_size;
$$;

comment on function page_of_admin_keys(bigint, boolean, bigint, integer) is 'Admin API keys that the current user may see, with the user each acts for, after a given one.';
