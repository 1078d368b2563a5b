create or replace function audit_kinds()
returns table (kind text, part text, severity audit_severity, meaning text)
language sql
immutable
set search_path = model_proxy, pg_temp
as $$
    select k.kind, k.part, k.severity, k.meaning
    from (
        values
            ('quota_exceeded', 'quotas', 'violation', 'A month admitted more requests than the plan allowed at any time in it.'),
            ('request_not_counted', 'quotas', 'violation', 'More requests were answered in a month than its counter has.'),
            ('request_not_recorded', 'quotas', 'notice', 'A month''s counter has more requests than its records can explain: a killed process loses what it had not recorded.'),
            ('rate_exceeded', 'records', 'violation', 'A key had more requests within a minute than its limit allowed at any time in it.'),
            ('inactive_key_used', 'records', 'violation', 'A key was used more than ten seconds after it was deactivated or had expired; in a realtime session, more than a minute.'),
            ('unknown_key', 'records', 'violation', 'Records name a key that their project does not have.'),
            ('unknown_project', 'records', 'notice', 'Records name a project that does not exist, as those of a deleted project do.'),
            ('recorded_twice', 'records', 'violation', 'One request is recorded several times.'),
            ('hit_with_cost', 'records', 'violation', 'A response from the cache cost something, and the judge, which may, was not called that day.'),
            ('cost_without_provider', 'records', 'violation', 'A request that reached no provider cost something.'),
            ('negative_amount', 'records', 'violation', 'A cost, a count, a duration, or an amount of a budget is below zero.'),
            ('cost_estimated', 'records', 'notice', 'The cost of requests is an estimate that has not been settled.'),
            ('sums_differ', 'sums', 'violation', 'The rollups of 15 minutes differ from their records.'),
            ('grains_differ', 'sums', 'violation', 'The rollups of an hour, a day or a month differ from the rollups that they consist of.'),
            ('total_differs', 'sums', 'violation', 'The rollups of all projects together differ from those of the projects.'),
            ('latency_counts_differ', 'sums', 'violation', 'The latency counts of a project have another number of requests than its rollups.'),
            ('tagged_sums_differ', 'sums', 'violation', 'The rollups by tags of an hour differ from its records with tags, or those of single tags from those of sets.'),
            ('overspent', 'budgets', 'violation', 'A budget is exceeded by more than its most expensive request.'),
            ('record_not_settled', 'budgets', 'violation', 'Less was spent of a budget than the records that it applies to cost.'),
            ('spent_without_record', 'budgets', 'violation', 'More was spent of a budget than the records that it applies to cost.'),
            ('reserved_differs', 'budgets', 'violation', 'The reserved amount of a budget is not the sum of its reservations.'),
            ('expired_reservation', 'budgets', 'violation', 'A reservation expired more than five minutes ago, and maintenance has not handled it.'),
            ('reservation_without_batch', 'budgets', 'violation', 'A reservation without end belongs to no unsettled batch: nothing will release it.'),
            ('budget_not_applied', 'budgets', 'violation', 'A project has budgets, but its requests do not reserve.'),
            ('response_not_settled', 'upkeep', 'violation', 'A response whose usage is requested from the provider has been open for more than a day.'),
            ('usage_not_summed', 'upkeep', 'violation', 'Usage has waited for more than a day to be added to the rollups.'),
            ('partition_missing', 'upkeep', 'violation', 'No partition exists for what will be recorded within a day.')
    ) as k (kind, part, severity, meaning);
$$;

comment on function audit_kinds() is 'Every kind of finding that an audit reports, the part of the audit that looks for it (see audit_parts()), and what it means. severity: violation, or notice, which no rule forbids.';
