create or replace function list_setting_kinds() returns setof setting_kinds
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select k.* from setting_kinds k order by k.place, k.name;
$$;

comment on function list_setting_kinds() is 'The settings of projects, the values that each accepts, and how a page shows it.';
