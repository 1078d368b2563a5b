create or replace function list_end_users(
    of_project bigint,
    from_time timestamptz,
    until_time timestamptz,
    of_key_type text default null,
    name_part text default null,
    after_name text default null,
    page_size integer default 20
)
returns setof usage_share
language sql
stable
set search_path = model_proxy, pg_temp
set jit = off
as $$
    with named as materialized (
        select n.* from name_shares(array[of_project], from_time, until_time, of_key_type, 'end_user') n
    )
    select n.*
    from named n
    where (name_part is null or strpos(lower(n.name), lower(name_part)) > 0)
        and (
            after_name is null
            or (n.cost_usd, n.requests, n.name) < (select a.cost_usd, a.requests, a.name from named a where a.name = after_name)
        )
    order by n.cost_usd desc, n.requests desc, n.name desc
    limit page_size;
$$;

comment on function list_end_users(bigint, timestamptz, timestamptz, text, text, text, integer) is
    'A page of the end users that requests of a project name within a time, most expensive first, from sums by day and month: those after after_name whose name contains name_part, ignoring case. Null: of_key_type, name_part (any); after_name (the first page).';
