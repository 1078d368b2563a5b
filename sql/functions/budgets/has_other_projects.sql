create or replace function has_other_projects(of_project bigint) returns boolean
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select exists (
        select
        from projects p
        where p.id <> of_project
            and p.archived_at is null
            and exists (select from api_keys k where k.project_id = p.id and can_spend(k))
    );
$$;

comment on function has_other_projects(bigint) is 'Whether another project has a key that can spend.';
