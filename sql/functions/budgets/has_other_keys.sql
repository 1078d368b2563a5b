create or replace function has_other_keys(of_project bigint, of_key bigint) returns boolean
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select exists (select from api_keys k where k.project_id = of_project and k.id <> of_key and can_spend(k));
$$;

comment on function has_other_keys(bigint, bigint) is 'Whether a project has another key that can spend.';
