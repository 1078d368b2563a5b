create or replace function require_cache_right(project text, requested_action text) returns bigint
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id constant bigint := require_project_role(project, 'viewer');
    held constant text := case when current_user_id() is null then 'operator' else current_project_role(owner_id) end;
begin
    if exists (select from cache_rights r where r.project_id = owner_id and r.action = requested_action and r.caller = held) then
        return owner_id;
    end if;
    if held = 'viewer' then
        raise exception 'your role in this project is viewer; this action requires member' using errcode = 'insufficient_privilege';
    end if;
    raise exception 'the project''s setting cache_feedback is none: verdicts cannot be given through the API' using errcode = 'insufficient_privilege';
end;
$$;

comment on function require_cache_right(text, text) is 'Id of the project of that name, for a user or operator who may judge or purge its cached responses, as cache_rights says. Raises as require_project_role() does.';
