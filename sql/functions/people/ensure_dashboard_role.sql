create or replace function ensure_dashboard_role() returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    shown record;
    -- From PostgreSQL 16 on, the creator of a role may grant it, but not act as it.
    usable constant text := case when current_setting('server_version_num')::integer >= 160000 then 'SET' else 'MEMBER' end;
begin
    -- Roles belong to the whole server: another database on it may be creating the role at the same time.
    perform pg_advisory_xact_lock(hashtext('model_proxy_dashboard'));
    if not exists (select 1 from pg_roles where rolname = 'model_proxy_dashboard') then
        begin
            create role model_proxy_dashboard nologin;
        exception
            when duplicate_object or unique_violation then null;
        end;
    end if;
    if not pg_has_role(session_user, 'model_proxy_dashboard', usable) then
        execute format('grant model_proxy_dashboard to %I', session_user);
    end if;
    execute format('grant usage on schema %I to model_proxy_dashboard', current_schema());
    -- Revokes everything that is not granted below.
    for shown in
        select c.oid::regclass as relation
        from pg_class c
        where c.relnamespace = current_schema()::regnamespace
            and (
                exists (select from aclexplode(c.relacl) a where a.grantee = 'model_proxy_dashboard'::regrole)
                or exists (
                    select
                    from pg_attribute t
                    cross join lateral aclexplode(t.attacl) a
                    where t.attrelid = c.oid and not t.attisdropped and a.grantee = 'model_proxy_dashboard'::regrole
                )
            )
    loop
        execute format('revoke all on %s from model_proxy_dashboard', shown.relation);
    end loop;
    -- Functions read these with the rights of the role.
    grant select on
        projects,
        plans,
        monthly_counters,
        cached_vectors,
        usage_records,
        usage_sums,
        latency_counts,
        usage_per_record,
        usage_hourly,
        effective_verdicts,
        setting_kinds,
        rejections_hourly,
        usage_miss_sums,
        usage_pending,
        usage_sums_by_tag,
        usage_sums_by_name,
        usage_tag_filters,
        models,
        budgets,
        budget_periods,
        spend_alerts,
        memberships,
        audit_log,
        cache_contexts,
        cache_verdicts,
        judge_spending,
        events,
        event_deliveries,
        calibration
        to model_proxy_dashboard;
    -- All columns of these tables except hashes of keys, and the texts of requests and responses and hashes of their words, which functions
    -- that call may_read_texts() read.
    for shown in
        select a.attrelid::regclass as relation, string_agg(quote_ident(a.attname), ', ') as columns
        from pg_attribute a
        where a.attrelid in ('api_keys'::regclass, 'cache_entries'::regclass, 'cache_prompts'::regclass, 'semantic_hits'::regclass)
            and a.attnum > 0
            and not a.attisdropped
            and a.attname not in ('key_hash', 'imported_hash', 'response', 'prompt', 'word1', 'word2', 'word3', 'sealed_wording')
        group by a.attrelid
    loop
        execute format('grant select (%s) on %s to model_proxy_dashboard', shown.columns, shown.relation);
    end loop;
    -- The admin API reads with the rights of the role: its views, and the table columns that these views name. Encrypted keys, and hashes
    -- of passwords and keys, are out of reach.
    for shown in
        select c.oid::regclass as relation, null as columns
        from pg_class c
        where c.relnamespace = current_schema()::regnamespace
            and c.relkind = 'v'
            and 'security_invoker=true' = any (c.reloptions)
        union all
        select d.refobjid::regclass, string_agg(distinct quote_ident(a.attname), ', ')
        from pg_class c
        join pg_rewrite r on r.ev_class = c.oid
        join pg_depend d
            on d.classid = 'pg_rewrite'::regclass
            and d.objid = r.oid
            and d.refclassid = 'pg_class'::regclass
            and d.refobjid <> c.oid
        join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
        where c.relnamespace = current_schema()::regnamespace
            and 'security_invoker=true' = any (c.reloptions)
        group by d.refobjid
    loop
        execute format('grant select %s on %s to model_proxy_dashboard', coalesce('(' || shown.columns || ')', ''), shown.relation);
    end loop;
exception
    when insufficient_privilege then
        raise warning 'the dashboard needs a role that % may not create: see run_as_actor()', session_user;
end;
$$;

comment on function ensure_dashboard_role() is 'Creates the role under which dashboard queries run, and grants it exactly the privileges that they need. Raises a warning if the database user lacks the privileges for this, because the proxy works without the role, and the dashboard reports the problem.';
