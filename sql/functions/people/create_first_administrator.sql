create or replace function create_first_administrator(email text, password_hash text) returns boolean
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    with created as (
        select create_user(email, 'owner', password_hash)
        where not exists (select from users u where u.role = 'owner')
    )
    select exists (select from created);
$$;

comment on function create_first_administrator(text, text) is 'Creates the first administrator of a new installation; false when there is one already.';
