create or replace function run_as_actor(actor json, reads boolean, statement text, arguments json) returns setof json
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    missing_role text;
begin
    -- These settings end with the transaction, which consists of this one statement.
    perform set_config('proxy_caller.actor', coalesce(actor ->> 'name', ''), true);
    perform set_config('proxy_caller.user_id', coalesce(actor ->> 'user_id', ''), true);
    perform set_config('proxy_caller.admin_key_id', coalesce(actor ->> 'admin_key_id', ''), true);
    perform set_config('proxy_caller.address', coalesce(actor ->> 'address', ''), true);
    if reads then
        begin
            perform set_config('role', 'model_proxy_dashboard', true);
        exception
            when invalid_parameter_value or insufficient_privilege or undefined_object then
                missing_role := case when to_regrole('model_proxy_dashboard') is null then 'create role model_proxy_dashboard nologin; ' else '' end;
                raise exception 'the role model_proxy_dashboard is missing or not granted: as a superuser, run `%grant model_proxy_dashboard to %; select %.ensure_dashboard_role()`', missing_role, quote_ident(session_user), quote_ident(current_schema())
                    using errcode = 'invalid_role_specification';
        end;
        perform set_config('transaction_read_only', 'on', true);
    elsif json_typeof(actor -> 'idempotent') = 'object' then
        perform claim_idempotency_key(actor -> 'idempotent');
    end if;
    return query execute format('select to_json(r) from (%s) r', statement) using arguments;
end;
$$;

comment on function run_as_actor(json, boolean, text, json) is
    'Runs one statement on behalf of a user: actor {name, user_id, admin_key_id, address, idempotent}, where idempotent is the argument of claim_idempotency_key() for a change under an idempotency key. A statement that reads runs as role model_proxy_dashboard, under row-level security and read-only; a change relies on the checks of the functions it calls. The statement finds its values in $1; its rows come back as JSON.';
