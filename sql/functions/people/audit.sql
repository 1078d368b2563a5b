create or replace function audit(action text, of_project bigint, target text, details jsonb default '{}') returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    -- Every change is audited, so this guards every change. An export only reads.
    select require_key_permission(of_project) where action <> 'end_user.exported';
    insert into audit_log (actor, actor_kind, user_id, admin_key_id, admin_key_name, address, project_id, action, target, target_name, details)
    select
        coalesce(nullif(current_setting('proxy_caller.actor', true), ''), session_user),
        case
            when nullif(current_setting('proxy_caller.admin_key_id', true), '') is not null then 'api_key'
            when nullif(current_setting('proxy_caller.address', true), '') is not null then 'session'
            else 'operator'
        end,
        current_user_id(),
        nullif(current_setting('proxy_caller.admin_key_id', true), '')::bigint,
        find_target_name('admin_key_' || nullif(current_setting('proxy_caller.admin_key_id', true), '')),
        nullif(current_setting('proxy_caller.address', true), ''),
        of_project,
        action,
        target,
        find_target_name(target),
        jsonb_strip_nulls(details);
$$;

comment on function audit(text, bigint, text, jsonb) is 'Records an action of the current actor in the audit log. The settings proxy_caller.actor, user_id, admin_key_id and address identify the actor; without them it is the database user. Raises as require_key_permission() does, except for an export.';
