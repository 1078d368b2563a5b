create or replace function queue_reconciliation(
    of_project bigint,
    response_id text,
    of_provider text,
    of_request text,
    recorded timestamptz,
    charged timestamptz,
    estimated_usd numeric
)
returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    insert into unreconciled_responses (project_id, id, provider, request_id, recorded_at, charged_at, usd)
    values (of_project, response_id, of_provider, of_request, recorded, charged, estimated_usd)
    on conflict do nothing;
$$;

comment on function queue_reconciliation(bigint, text, text, text, timestamptz, timestamptz, numeric) is
    'Queues a response whose usage is requested until its provider reports it; then reconcile_response() settles its request.';
