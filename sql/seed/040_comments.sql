-- Copies missing comments of columns from the column of the same name in another table.
do $$
declare
    place text;
    as_in text;
    alike record;
begin
    -- The order matters: a third table gets the comments that the second got from the first.
    for place, as_in in
        values
            ('cache_entries', 'usage_records'),
            ('cached_vectors', 'cache_entries'),
            ('cache_size_changes', 'cache_sizes'),
            ('cache_verdicts', 'cache_prompts'),
            ('judge_queue', 'cache_verdicts'),
            ('stored_turns', 'stored_responses'),
            ('prompts_by_word', 'cache_prompts'),
            ('cache_version_entries', 'cache_versions'),
            ('admin_keys', 'api_keys'),
            ('key_limits', 'resolved_keys'),
            ('effective_verdicts', 'cache_verdicts'),
            ('model_prices', 'models'),
            ('model_unit_prices', 'model_prices'),
            ('budget_reservations', 'budget_periods'),
            ('budget_reservations', 'usage_records'),
            ('unreconciled_responses', 'usage_records'),
            ('request_contents', 'usage_records'),
            ('usage_sums', 'usage_records'),
            ('usage_sums_by_tag', 'usage_sums'),
            ('usage_sums_by_name', 'usage_sums_by_tag'),
            ('usage_tag_filters', 'usage_sums'),
            ('latency_counts', 'usage_sums'),
            ('usage_miss_sums', 'usage_sums'),
            ('usage_pending', 'usage_sums'),
            ('usage_pending', 'latency_counts'),
            ('usage_pending', 'usage_records'),
            ('usage_per_record', 'usage_pending'),
            ('usage_hourly', 'usage_sums'),
            ('end_user_items', 'usage_records'),
            ('visible_logins', 'logins'),
            -- Views of the admin API.
            ('organization_plans', 'plans'),
            ('organization_vendors', 'vendors'),
            ('organization_projects', 'projects'),
            ('organization_users', 'users'),
            ('organization_invites', 'users'),
            ('organization_audit_logs', 'audit_log'),
            ('project_users', 'memberships'),
            ('project_users', 'users'),
            ('project_users', 'organization_users'),
            ('project_api_keys', 'api_keys'),
            ('project_service_accounts', 'api_keys'),
            ('project_provider_keys', 'provider_keys'),
            ('project_webhooks', 'webhooks'),
            ('project_deliveries', 'event_deliveries'),
            ('project_deliveries', 'events'),
            ('project_budgets', 'budgets'),
            ('project_spend_limits', 'budgets'),
            ('project_spend_alerts', 'spend_alerts'),
            ('project_spend_alerts', 'project_spend_limits'),
            ('admin_api_keys', 'admin_keys'),
            ('cached_responses', 'cache_entries')
    loop
        for alike in
            select c.attname, col_description(d.attrelid, d.attnum) as comment
            from pg_attribute c
            join pg_attribute d on d.attname = c.attname and d.attrelid = as_in::regclass
            where c.attrelid = place::regclass
                and c.attnum > 0
                -- In views of the admin API, ids differ from those of the table, and times are numbers.
                and (c.attname not in ('id', 'created_at', 'expires_at') or c.atttypid = d.atttypid)
                and col_description(c.attrelid, c.attnum) is null
                and col_description(d.attrelid, d.attnum) is not null
        loop
            execute format('comment on column %I.%I is %L', place, alike.attname, alike.comment);
        end loop;
    end loop;
end
$$;

-- Columns that all objects of the admin API have, and the project of any row. A hidden column is omitted from responses.
do $$
declare
    shown record;
begin
    for shown in
        select c.relname, a.attname, coalesce(known.comment, case when a.attname like '\_%' then 'Hidden: for filters.' end) as comment
        from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
        left join (values
            ('_id', 'Hidden: the number in its id, for cursors.'),
            ('_project_id', 'Hidden: the project''s number. Of an organization''s, none.'),
            ('_place', 'Hidden: what they are ordered by.'),
            ('id', 'Its id: what it is, an underscore, and a number.'),
            ('name', 'What people call it.'),
            ('redacted_value', 'As much of it as may be shown.'),
            ('created_at', 'When it was made.'),
            ('updated_at', 'When it was last changed.'),
            ('added_at', 'When the user was added.'),
            ('expires_at', 'From when on it does not count.'),
            ('project_id', 'The project.')
        ) as known (column_name, comment) on known.column_name = a.attname
        where c.relnamespace = current_schema()::regnamespace
            and c.relkind in ('r', 'p', 'v')
            and not c.relispartition
            and (a.attname = 'project_id' or exists (select from pg_attribute i where i.attrelid = c.oid and i.attname = '_id'))
            and col_description(c.oid, a.attnum) is null
            and (known.comment is not null or a.attname like '\_%')
    loop
        execute format('comment on column %I.%I is %L', shown.relname, shown.attname, shown.comment);
    end loop;
end
$$;
