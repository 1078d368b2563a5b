create or replace function advisory_locks()
returns table (name text, number integer, guards text)
language sql
immutable
set search_path = model_proxy, pg_temp
as $$
    select l.name, hashtext(l.name), l.guards
    from (
        values
            ('model_proxy migrate', 'Deploys: one proxy at a time, and no release that is behind.'),
            ('model_proxy_dashboard', 'Making the dashboard''s role, which belongs to the server.'),
            ('model_proxy maintain_usage_partitions', 'Making and dropping partitions.'),
            ('model_proxy import_accounts', 'Importing accounts of another gateway: one import at a time.'),
            ('model_proxy roll_up_usage', 'Adding pending rows to the sums, and reading both as of one moment.'),
            ('model_proxy update_alerts', 'Measuring alerts: one proxy at a time.'),
            ('model_proxy update_cache_sizes', 'Adding up what caches take.'),
            ('model_proxy register_embedding_space', 'Giving an embedding space its id.'),
            ('model_proxy organization_budget', 'Beginning the period of an organization budget with what is pending. Batches of records share it.'),
            ('model_proxy claimed id', 'With a number from 0 to 63: ids that no project is known to have.'),
            ('model_proxy count_minute_requests', 'With a key''s: its requests of the last minute.'),
            ('model_proxy name_cache_version', 'With a hash of project and name: a new version of the name.'),
            ('model_proxy identity', 'With a hash of issuer and subject: the first login of a person.')
    ) as l (name, guards);
$$;

comment on function advisory_locks() is 'Returns all advisory locks that the proxy uses. number is the only or the first of the two numbers in pg_locks. All locks end with their transaction.';
