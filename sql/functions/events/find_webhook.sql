create or replace function find_webhook(project text, webhook_id bigint, needed text) returns bigint
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := require_project_role(project, needed);
begin
    if not exists (select from webhooks w where w.id = find_webhook.webhook_id and w.project_id = owner_id) then
        raise exception 'there is no webhook webhook_% in project %', webhook_id, quote_for_message(project) using errcode = 'no_data_found';
    end if;
    return owner_id;
end;
$$;

comment on function find_webhook(text, bigint, text) is 'Id of the project, for a user with the role viewer, member or owner there. Raises when it has no such webhook.';
