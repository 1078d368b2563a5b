create or replace function archive_project(project text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := require_project_role(project, 'owner');
    deactivated integer;
begin
    update projects p set archived_at = now() where p.id = owner_id and p.archived_at is null;
    if not found then
        return;
    end if;
    update api_keys k set deactivated_at = now() where k.project_id = owner_id and k.deactivated_at is null;
    get diagnostics deactivated = row_count;
    perform audit('project.archived', owner_id, 'proj_' || owner_id, jsonb_build_object('deactivated_keys', deactivated));
end;
$$;

comment on function archive_project(text) is 'Archives a project permanently: its keys are deactivated, and no new one is issued; its records stay. Requires an owner of it. Idempotent.';
