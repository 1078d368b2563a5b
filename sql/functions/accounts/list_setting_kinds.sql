create or replace function list_setting_kinds() returns setof setting_kinds
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select k.* from setting_kinds k order by k.place, k.name;
$$;

comment on function list_setting_kinds() is 'What settings a project has, what each takes, and what a page shows of it.';
