-- step: locked
-- Failed requests are found by their status and error. An answered one is not in the index.
lock table usage_records in access exclusive mode;

create index usage_records_failed_idx on usage_records (project_id, status, recorded_at) where status >= 400;
