create or replace function current_key_project() returns bigint
language sql
stable
-- The function decides what the current user may see, so it must itself see all rows.
security definer
set search_path = model_proxy, pg_temp
as $$
    select nullif(coalesce((select coalesce(k.scope_project_id, -1) from admin_keys k where k.id = c.key_id), 0), -1)
    from (select nullif(current_setting('proxy_caller.admin_key_id', true), '')::bigint as key_id) c
    where c.key_id is not null;
$$;

comment on function current_key_project() is 'The only project in which the admin key of the current user may act; 0 (no project) for a key that has been deleted meanwhile. Null: result (all projects of the user, or no admin key).';
