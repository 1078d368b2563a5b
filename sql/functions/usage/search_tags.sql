create or replace function search_tags(of_project bigint, search text, max_rows integer) returns table (tag text)
language plpgsql
stable
-- Row security would keep the search from using the index, so the function checks the caller itself.
security definer
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
declare
    found_tags text[] := '{}';
    this_month constant timestamptz := date_trunc('month', now(), 'UTC');
    begins timestamptz;
    at_name text;
    at_value text;
    months constant integer := 3;
    steps constant integer := 500;
begin
    perform authorize(of_project, 'viewer');
    found_tags := array(
        select distinct t.name || '=' || t.value
        from (
            select p.tags from usage_pending p where p.project_id = of_project and p.tags is not null limit 1000
        ) n
        cross join lateral jsonb_each_text(n.tags) as t (name, value)
        where t.name <> 'user_id' and strpos(lower(t.name || '=' || t.value), lower(search)) > 0
        order by 1
        limit max_rows
    );
    -- Each step jumps to the next tag in the index. End users have a search of their own.
    for month in 0..months - 1 loop
        begins := this_month - make_interval(months => month);
        at_name := '';
        at_value := '';
        for step in 1..steps loop
            exit when cardinality(found_tags) >= max_rows;
            select v.name, v.value into at_name, at_value
            from usage_sums_by_tag_value v
            where v.project_id = of_project and v.grain = 'month' and v.at = begins and (v.name, v.value) > (at_name, at_value)
            order by v.name, v.value
            limit 1;
            exit when at_name is null;
            if at_name = 'user_id' then
                select v.name, v.value into at_name, at_value
                from usage_sums_by_tag_value v
                where v.project_id = of_project and v.grain = 'month' and v.at = begins and v.name > 'user_id'
                order by v.name, v.value
                limit 1;
                exit when at_name is null;
            end if;
            if strpos(lower(at_name || '=' || at_value), lower(search)) > 0 and at_name || '=' || at_value <> all (found_tags) then
                found_tags := found_tags || (at_name || '=' || at_value);
            end if;
        end loop;
    end loop;
    return query select t.name from unnest(found_tags) as t (name) order by 1;
end;
$$;

comment on function search_tags(bigint, text, integer) is
    'Tags of a project''s requests in this month and the two before, each as name=value, that contain the search, ignoring case; without the tag user_id. Reads a bounded number of rows. Requires a viewer.';
