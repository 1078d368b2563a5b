create or replace function follow_response(
    of_project bigint,
    response_id text,
    of_provider text,
    of_request text,
    recorded timestamptz,
    charged timestamptz,
    presumed_usd numeric,
    presumed_tokens bigint
)
returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    insert into open_responses (project_id, id, provider, request_id, recorded_at, charged_at, usd, tokens)
    values (of_project, response_id, of_provider, of_request, recorded, charged, presumed_usd, presumed_tokens)
    on conflict do nothing;
$$;

comment on function follow_response(bigint, text, text, text, timestamptz, timestamptz, numeric, bigint) is
    'Has a response asked for until its provider says what it used; then settle_response() puts its record and budgets right.';
