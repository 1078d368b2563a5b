create or replace function run_audit_part(part text, from_time timestamptz, until_time timestamptz, project text) returns setof audit_finding
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
declare
    owner_id constant bigint := case when project <> '' then find_project(project) end;
begin
    if part not in (select k.part from audit_kinds() k) then
        raise exception 'part % does not exist', quote_for_message(part) using errcode = 'invalid_parameter_value';
    end if;
    return query
    with facts as (
        select f.* from audit_quotas(from_time, until_time, owner_id) f where part = 'quotas'
        union all
        select f.* from audit_budgets(from_time, until_time, owner_id) f where part = 'budgets'
        union all
        select f.* from audit_upkeep(owner_id) f where part = 'upkeep'
        union all
        select f.* from audit_records(from_time, until_time, owner_id) f where part = 'records'
        union all
        select f.* from audit_sums(from_time, until_time, owner_id) f where part = 'sums'
    )
    select
        f.kind, k.severity, coalesce(p.name, 'proj_' || f.project_id), 'key_' || f.key_id, f.at, f.subject, f.expected, f.found
    from facts f
    join audit_kinds() k on k.kind = f.kind
    left join projects p on p.id = f.project_id
    order by k.severity desc, f.at, f.kind, f.project_id, f.key_id, f.subject;
end;
$$;

comment on function run_audit_part(text, timestamptz, timestamptz, text) is
    'The findings of one part of an audit: quotas, budgets, upkeep, records or sums. It acquires no lock, and reads one snapshot. Raises on an unknown project or part. Null: project (all).';
