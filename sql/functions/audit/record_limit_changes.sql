create or replace function record_limit_changes() returns trigger
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    had jsonb;
    has jsonb;
begin
    if tg_table_name = 'projects' then
        perform audit(
            'project.updated', new.id, 'proj_' || new.id, jsonb_build_object('plan', new.plan, 'was', old.plan)
        );
        return null;
    end if;
    select jsonb_object_agg(o.key, o.value), jsonb_object_agg(n.key, n.value)
    into had, has
    from jsonb_each(to_jsonb(old)) o
    join jsonb_each(to_jsonb(new)) n on n.key = o.key
    where o.value <> n.value;
    if has is not null then
        perform audit('rate_limit.updated', null, 'plan_' || new.name, has || jsonb_build_object('was', had));
    end if;
    return null;
end;
$$;

comment on function record_limit_changes() is 'Records each change of a project''s plan, or of a plan''s limits, in the audit log, with the former values, however the change is made. limits_in_period() reads these rows.';
