-- Seeding adds missing plans only, so that an operator's changes stay.
insert into plans (name, requests_per_minute_per_key, requests_per_minute_per_address, requests_per_month, concurrent_requests)
values
    ('free', 60, 120, 10000, 400),
    ('pro', 600, 1200, 1000000, 1000),
    ('enterprise', 6000, 12000, 50000000, 5000)
on conflict (name) do nothing;

insert into service_settings (name, value, description)
values ('usage_retention_months', '13', 'Whole months of usage records kept besides the current one; older partitions are dropped. 1 or more.')
on conflict (name) do nothing;
