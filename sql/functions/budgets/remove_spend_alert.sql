create or replace function remove_spend_alert(project text, of_alert bigint) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := require_budget_owner(project);
    meter_id bigint;
    removed_amount numeric;
begin
    delete from spend_alerts a
    using budgets b
    where a.id = of_alert
        and b.id = a.budget_id
        and b.project_id is not distinct from owner_id
    returning b.id, a.amount into meter_id, removed_amount;
    if not found then
        raise exception 'there is no such spend alert' using errcode = 'no_data_found';
    end if;
    perform delete_unused_budget(owner_id, meter_id);
    perform audit('spend_alert.removed', owner_id, 'spend_alert_' || of_alert, jsonb_build_object('amount', removed_amount));
end;
$$;

comment on function remove_spend_alert(text, bigint) is 'Removes a spend alert of a project, or for null of the organization. Raises when there is none of that id.';
