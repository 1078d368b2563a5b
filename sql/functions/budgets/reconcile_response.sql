create or replace function reconcile_response(
    of_project bigint,
    response_id text,
    read_tokens integer,
    cached_tokens integer,
    written_tokens integer,
    cost numeric
)
returns boolean
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    open unreconciled_responses;
begin
    delete from unreconciled_responses o
    where o.project_id = of_project
        and o.id = response_id
    returning * into open;
    return found
        and settle_record(
            of_project,
            open.request_id,
            cost,
            read_tokens,
            cached_tokens,
            written_tokens,
            open.recorded_at,
            open.charged_at,
            open.usd
        );
end;
$$;

comment on function reconcile_response(bigint, text, integer, integer, integer, numeric) is
    'Replaces the estimated usage and cost of a response by the reported ones, by settle_record(). False if there is no such record.';
