create or replace function raise_threshold_events(of_budgets bigint[], since timestamptz) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    with thresholds as (
        select b.id, b.amount, s.percent, 'budget_' || b.id || ':' || s.percent as name, jsonb_build_object('budget_id', 'budget_' || b.id) as told
        from budgets b
        cross join (values (80), (100)) s (percent)
        where b.id = any (of_budgets)
            and b.enforced
        union all
        select
            a.budget_id, a.amount, 100, 'spend_alert_' || a.id || ':' || a.amount,
            jsonb_build_object(
                'spend_alert_id', 'spend_alert_' || a.id,
                'notification_channel',
                jsonb_strip_nulls(jsonb_build_object('type', 'email', 'recipients', a.recipients, 'subject_prefix', a.subject_prefix))
            )
        from spend_alerts a
        where a.budget_id = any (of_budgets)
    ),
    passed as (
        select
            b.project_id,
            t.told || jsonb_build_object(
                'percent', t.percent, 'unit', b.unit, 'used', c.spent, 'limit', t.amount, 'per', b.per,
                'scope', case
                    when b.project_id is null then 'organization'
                    when b.key_id is not null then 'api_key'
                    when b.model is not null then 'model'
                    when b.tag is not null then 'tag'
                    else 'project'
                end
            ) as told,
            concat_ws(':', t.name, extract(epoch from c.begins)::bigint) as once
        from thresholds t
        join budgets b on b.id = t.id
        cross join lateral budget_period_at(b.per, b.time_zone, since) present
        join budget_periods c on c.budget_id = b.id and c.begins >= present.begins
        where c.spent > 0
            and c.spent >= t.amount * t.percent / 100
    )
    select raise_event(p.id, 'budget.threshold', t.told, t.once)
    from passed t
    -- A threshold of the organization raises an event in every project with an enabled webhook.
    join projects p on p.id = t.project_id
        or t.project_id is null and exists (select from webhooks w where w.project_id = p.id and w.disabled_at is null)
    where not exists (select from events e where e.project_id = p.id and e.kind = 'budget.threshold' and e.once = t.once);
$$;

comment on function raise_threshold_events(bigint[], timestamptz) is
    'Raises budget.threshold, once per period: for budgets of which 80 or 100 percent are spent, and for alerts whose amount is spent. since: any moment of the first period that is examined.';
