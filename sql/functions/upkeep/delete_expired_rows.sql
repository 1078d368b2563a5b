create or replace function delete_expired_rows(max_rows integer) returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
set timezone = 'UTC'
as $$
declare
    believed constant timestamptz := (select i.retention_clock_at from installation i);
    kept_from constant timestamptz := date_trunc('month', believed) - interval '13 months';
    outdated record;
    most integer := 0;
begin
    for outdated in
        select o.place, o.condition
        from (
            -- The partitions of a month are dropped whole.
            select t.relid::regclass::text, format('at < %L', kept_from)
            from unnest('{usage_sums,latency_counts,usage_sums_by_tag,usage_sums_by_name}'::regclass[]) as p (parent)
            cross join lateral pg_partition_tree(p.parent) t
            where t.isleaf
                and t.relid::regclass::text !~ '_\d{4}_\d{2}$'
            union all
            values
                ('usage_tag_filters', format('at < %L', kept_from)),
                ('usage_miss_sums', format('at < %L', kept_from)),
                ('rejections_hourly', format('hour < %L', kept_from)),
                ('budget_periods', format('begins < %L and begins <> %L', believed - interval '13 months', 'epoch')),
                ('stored_objects', format('collection = %L and expires_at < %L', 'references', believed)),
                ('stored_turns', format('expires_at < %L', believed)),
                (
                    'cache_versions',
                    format('last_named_at < %L and not exists (select from cache_entries e where e.version_id = x.id)', believed - interval '90 days')
                ),
                -- Older versions than a forgotten one may be named anew.
                (
                    'cache_versions',
                    'superseded_at is not null and (project_id, test, namespace, name) not in ('
                        'select n.project_id, n.test, n.namespace, n.name from cache_versions n where n.superseded_at is null)'
                ),
                ('events', format('raised_at < %L', believed - interval '90 days')),
                ('applied_batches', format('applied_at < %L', believed - interval '1 day')),
                ('admission_slots', format('used_at < %L', believed - interval '1 day')),
                ('minute_counts', 'key_id not in (select k.id from api_keys k where k.minute_counted_until > now())'),
                ('sessions', format('expires_at < %L', believed)),
                ('idempotent_requests', format('started_at < %L', believed - interval '1 day')),
                ('invitations', format('expires_at < %L', believed)),
                ('login_attempts', format('subject like %L and first_at < %L', 'known:%', believed - interval '30 days')),
                ('login_attempts', format('subject not like %L and first_at < %L', 'known:%', believed - interval '1 hour'))
        ) as o (place, condition)
        where to_regclass(o.place) is not null
    loop
        most := greatest(most, delete_rows(outdated.place, outdated.condition, max_rows));
    end loop;
    return most;
end;
$$;

comment on function delete_expired_rows(integer) is 'Deletes up to that many rows of each table whose rows outlive their use: sums after 13 months, events and versions of cached responses that no request names after 90 days, ids of batches and idempotency keys after a day, expired sessions, invitations, stored turns and ids whose objects a provider has deleted, old login attempts, minutes that are not counted any more. Returns the greatest number: fewer than max_rows means that none are left.';
