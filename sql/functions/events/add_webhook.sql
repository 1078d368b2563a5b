create or replace function add_webhook(project text, url text, kinds text[], sealed bytea, format text default 'standard') returns bigint
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
declare
    most constant integer := 20;
    owner_id bigint := require_project_role(project, 'owner');
    added bigint;
begin
    perform require_event_kinds(kinds);
    -- One insert at a time per project, so that the maximum holds.
    perform 1 from projects p where p.id = owner_id for no key update;
    if (select count(*) from webhooks w where w.project_id = owner_id) >= most then
        raise exception 'project % has % webhooks already', quote_for_message(project), most
            using errcode = 'object_not_in_prerequisite_state';
    end if;
    insert into webhooks (project_id, url, kinds, sealed, format)
    values (owner_id, url, kinds, sealed, format)
    returning id into added;
    perform audit(
        'webhook.created', owner_id, 'webhook_' || added,
        jsonb_build_object('url', case format when 'slack' then hide_url_path(url) else url end, 'kinds', kinds, 'format', format)
    );
    return added;
end;
$$;

comment on function add_webhook(text, text, text[], bytea, text) is 'Adds a webhook for a project''s events: of these kinds, or of all kinds if none is given. sealed: the signing secret, encrypted by the proxy. format: standard, slack or email, whose url is mailto: and an address. Requires an owner.';
