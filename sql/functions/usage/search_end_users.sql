create or replace function search_end_users(of_project bigint, search text, max_rows integer) returns table (end_user text)
language plpgsql
stable
-- Row security would keep the search from using the index, so the function checks the caller itself.
security definer
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
declare
    found_users text[];
    last_user text;
    steps constant integer := 200;
begin
    perform authorize(of_project, 'viewer');
    select array_agg(n.end_user order by n.at desc) into found_users
    from (
        select r.end_user, max(r.recorded_at) as at
        from (
            select x.end_user, x.recorded_at
            from usage_records x
            where x.project_id = of_project
            order by x.recorded_at desc
            limit 5000
        ) r
        where strpos(lower(r.end_user), lower(search)) > 0
        group by r.end_user
        order by max(r.recorded_at) desc
        limit max_rows
    ) n;
    return query select u.name from unnest(found_users) as u (name);
    if search = '' or coalesce(cardinality(found_users), 0) >= max_rows then
        return;
    end if;
    -- Each step jumps to the next name in the index. Depending on the collation, other names may be between those with the prefix.
    for step in 1..steps loop
        if step = 1 then
            select r.end_user into last_user
            from usage_records r
            where r.project_id = of_project and r.end_user is not null and r.end_user >= search
            order by r.end_user
            limit 1;
        else
            select r.end_user into last_user
            from usage_records r
            where r.project_id = of_project and r.end_user is not null and r.end_user > last_user
            order by r.end_user
            limit 1;
        end if;
        exit when last_user is null;
        if starts_with(last_user, search) and last_user <> all (coalesce(found_users, '{}')) then
            found_users := found_users || last_user;
            end_user := last_user;
            return next;
            exit when cardinality(found_users) >= max_rows;
        end if;
    end loop;
end;
$$;

comment on function search_end_users(bigint, text, integer) is
    'End users of a project: first those of its last 5000 requests whose name contains the search, ignoring case, the newest first, then others whose name begins with it exactly. Reads a bounded number of rows. Requires a viewer.';
