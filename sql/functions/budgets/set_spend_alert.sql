create or replace function set_spend_alert(
    project text,
    of_amount numeric,
    to_recipients text[],
    with_prefix text default null,
    of_alert bigint default null
)
returns bigint
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    most constant integer := 20;
    owner_id bigint := require_budget_owner(project);
    meter_id bigint;
    set_id bigint;
begin
    if of_amount is null or not (of_amount >= 0 and of_amount < 1e9) then
        raise exception 'usd is not valid: use US dollars from 0 to below 1,000,000,000' using errcode = 'invalid_parameter_value';
    end if;
    if exists (select from unnest(to_recipients) r (address) where r.address !~ '^[^[:space:][:cntrl:]@]+@[^[:space:][:cntrl:]@]+$') then
        raise exception 'recipients are not valid: use e-mail addresses' using errcode = 'invalid_parameter_value';
    end if;
    select b.id into meter_id
    from budgets b
    where b.project_id is not distinct from owner_id
        and (b.unit, b.per) = ('usd', 'month')
        and coalesce(b.key_id::text, b.model, b.tag::text) is null
    for update;
    if of_alert is not null then
        update spend_alerts a
        set amount = of_amount,
            recipients = to_recipients,
            subject_prefix = with_prefix
        where a.id = of_alert
            and a.budget_id = meter_id
        returning a.id into set_id;
        if set_id is null then
            raise exception 'there is no such spend alert' using errcode = 'no_data_found';
        end if;
    else
        -- Without a limit, a budget that is not enforced sums the spending.
        meter_id := coalesce(meter_id, upsert_budget(owner_id, 'usd', 999999999, 'month', null, null, null, 'UTC', false));
        if (select count(*) from spend_alerts a where a.budget_id = meter_id) >= most then
            raise exception 'there are % spend alerts already: remove one', most using errcode = 'object_not_in_prerequisite_state';
        end if;
        insert into spend_alerts (budget_id, amount, recipients, subject_prefix)
        values (meter_id, of_amount, to_recipients, with_prefix)
        returning id into set_id;
    end if;
    perform audit('spend_alert.set', owner_id, 'spend_alert_' || set_id, jsonb_build_object('amount', of_amount));
    return set_id;
end;
$$;

comment on function set_spend_alert(text, numeric, text[], text, bigint) is
    'Sets an alert that raises budget.threshold once a month when a project, or for null the organization, has spent that many US dollars; returns the alert''s id. of_alert: changes this alert. Raises on invalid values.';
