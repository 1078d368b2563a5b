create or replace function run_audit(
    from_time timestamptz default null,
    until_time timestamptz default null,
    project text default null
)
returns setof audit_finding
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select f.*
    from audit_parts(from_time, until_time) p
    cross join lateral run_audit_part(p.part, p.begins, p.ends, project) f;
$$;

comment on function run_audit(timestamptz, timestamptz, text) is
    'Compares the requests admitted, reserved, settled and recorded in a period with limits, budgets and each other, and returns the contradictions. Without until_time, requests that ended in the last two minutes are omitted, because they may not be recorded yet. Raises on an unknown project. Null: from_time (31 days ago), until_time (two minutes ago), project (all).';
