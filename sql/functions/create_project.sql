create or replace function create_project(project text, plan text) returns bigint
language plpgsql
volatile
set search_path = public, pg_temp
as $$
#variable_conflict use_variable
declare
    created_id bigint;
begin
    if project is null or project !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$' then
        raise exception 'project name "%" is not valid: 1 to 63 letters, digits, dots, dashes or underscores, beginning with a letter or digit', project
            using errcode = 'invalid_parameter_value';
    end if;
    if not exists (select 1 from plans p where p.name = plan) then
        raise exception 'plan "%" does not exist; plans are: %', plan, (select string_agg(p.name, ', ' order by p.requests_per_month, p.name) from plans p)
            using errcode = 'no_data_found';
    end if;
    insert into projects (name, plan) values (project, plan)
    on conflict (name) do nothing
    returning id into created_id;
    if created_id is null then
        raise exception 'project "%" exists already', project using errcode = 'unique_violation';
    end if;
    return created_id;
end;
$$;

comment on function create_project(text, text) is 'Creates a project on a plan and returns its id. Raises on an invalid or taken name and on an unknown plan.';
