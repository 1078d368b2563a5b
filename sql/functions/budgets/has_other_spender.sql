create or replace function has_other_spender(of_owner bigint, of_project bigint, of_key bigint) returns boolean
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select case when of_owner is not null
        then exists (select from api_keys k where k.project_id = of_project and k.id <> of_key and can_spend(k))
        else exists (
            select
            from projects p
            where p.id <> of_project
                and p.archived_at is null
                and exists (select from api_keys k where k.project_id = p.id and can_spend(k))
        )
    end;
$$;

comment on function has_other_spender(bigint, bigint, bigint) is 'Whether others than this key can spend a budget: another key of its project or, if the organization owns the budget, another project. Null: of_owner (the organization).';
