create or replace function records_of_tagged_user(of_project bigint, of_user text, from_time timestamptz, until_time timestamptz)
returns setof usage_records
language sql
stable
-- Under row-level security, the value of a tag would be compared only after reading the project's records, because ->> is not leakproof.
security definer
set search_path = model_proxy, pg_temp
as $$
    select r.*
    from usage_records r
    where r.project_id = of_project
        and r.tags ? 'user_id'
        and r.tags ->> 'user_id' = of_user
        and r.recorded_at >= from_time
        and r.recorded_at < until_time
        -- Replaces row-level security. The proxy's own role sees everything.
        and (current_setting('role') <> 'model_proxy_dashboard' or of_project in (select visible_projects()));
$$;

comment on function records_of_tagged_user(bigint, text, timestamptz, timestamptz) is
    'A project''s records in a time whose tag user_id has this value, found through usage_records_user_tag_idx, if the current user may see the project.';
