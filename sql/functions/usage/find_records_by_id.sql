create or replace function find_records_by_id(of_project bigint, of_request_id text, of_asked_id text, from_time timestamptz, until_time timestamptz)
returns setof usage_records
language plpgsql
stable
set search_path = model_proxy, pg_temp
-- The planner assumes that a Bloom filter leaves most pages, and would read the project's records one by one instead.
set enable_seqscan = off
set enable_indexscan = off
-- A generic plan, for any time, would read another index as a whole.
set plan_cache_mode = force_custom_plan
-- JIT compilation and parallel workers would take longer than the search.
set jit = off
set max_parallel_workers_per_gather = 0
as $$
declare
    -- Covers whole partitions: for a part of one, the planner would search another index, too.
    begins constant timestamptz := date_trunc('month', from_time, 'UTC');
    ends constant timestamptz := (date_trunc('month', until_time at time zone 'UTC') + interval '1 month') at time zone 'UTC';
begin
    return query
    select r.*
    from usage_records r
    where (of_request_id is null or r.request_id = of_request_id)
        and (of_asked_id is null or r.asked_id = of_asked_id)
        and r.project_id + 0 = of_project
        and r.recorded_at >= begins
        and r.recorded_at < ends
        and r.recorded_at + interval '0' >= from_time
        and r.recorded_at + interval '0' < until_time;
end;
$$;

comment on function find_records_by_id(bigint, text, text, timestamptz, timestamptz) is
    'A project''s records of an X-Request-Id, or of identical requests (asked_id), in a time, through the Bloom filters of usage_records_ids_idx. Null: of_request_id, of_asked_id (any).';
