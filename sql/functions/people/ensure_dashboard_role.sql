create or replace function ensure_dashboard_role() returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    -- Roles belong to the whole server: another database on it may be creating this one.
    perform pg_advisory_xact_lock(hashtext('model_proxy_dashboard'));
    if not exists (select 1 from pg_roles where rolname = 'model_proxy_dashboard') then
        begin
            create role model_proxy_dashboard nologin;
        exception
            when duplicate_object or unique_violation then null;
        end;
    end if;
    if not pg_has_role(session_user, 'model_proxy_dashboard', 'member') then
        execute format('grant model_proxy_dashboard to %I', session_user);
    end if;
    execute format('grant usage on schema %I to model_proxy_dashboard', current_schema());
    grant select on
        projects,
        plans,
        api_keys,
        monthly_counters,
        cache_entries,
        cache_prompts,
        cached_vectors,
        usage_records,
        usage_sums,
        latency_counts,
        usage_by_record,
        usage_hourly,
        standing_verdicts,
        setting_kinds,
        refusals_hourly,
        usage_pending,
        usage_tagged,
        budgets,
        budget_periods,
        spend_alerts,
        memberships,
        audit_log,
        semantic_hits,
        cache_verdicts,
        judge_spending,
        events,
        event_deliveries,
        calibration,
        request_contents
        to model_proxy_dashboard;
    -- What the admin API shows is read with the rights of the role.
    execute (
        select format('grant select on %s to model_proxy_dashboard', string_agg(c.oid::regclass::text, ', '))
        from pg_class c
        where c.relnamespace = current_schema()::regnamespace
            and c.relkind = 'v'
            and 'security_invoker=true' = any (c.reloptions)
    );
    -- No encrypted keys, and no hashes of passwords and admin keys.
    grant select (project_id, provider, last_four, created_at, updated_at, name, weight) on provider_keys to model_proxy_dashboard;
    grant select (id, project_id, url, kinds, created_at, disabled_at) on webhooks to model_proxy_dashboard;
    grant select (id, email, role, created_at) on users to model_proxy_dashboard;
    grant select (id, user_id, prefix, name, created_at, expires_at, last_used_at) on admin_keys to model_proxy_dashboard;
exception
    when insufficient_privilege then
        raise warning 'the dashboard needs a role that % may not create: see act_as()', session_user;
end;
$$;

comment on function ensure_dashboard_role() is 'Creates the role that dashboard queries run as, and grants it what they read. Only warns when the database user lacks the privileges: the proxy works without it, and the dashboard says what is missing.';
