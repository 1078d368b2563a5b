create or replace function settle_request(
    project text,
    of_request text,
    cost numeric,
    read_tokens integer default null,
    written_tokens integer default null,
    recorded timestamptz default null
)
returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := require_project_role(project, 'owner');
begin
    if cost is null or cost < 0 or cost > 100000 then
        raise exception 'cost must be a number of US dollars from 0 to 100000' using errcode = 'invalid_parameter_value';
    end if;
    if least(read_tokens, written_tokens) < 0 then
        raise exception 'tokens must not be negative' using errcode = 'invalid_parameter_value';
    end if;
    if not settle_record(owner_id, of_request, cost, read_tokens, null, written_tokens, recorded) then
        raise exception 'project % has no request % whose cost is estimated', quote_for_message(project), quote_for_message(of_request)
            using errcode = 'no_data_found';
    end if;
    perform audit('request.settled', owner_id, of_request);
end;
$$;

comment on function settle_request(text, text, numeric, integer, integer, timestamptz) is
    'Settles a request manually: the amount that its provider charged, in US dollars, and its tokens (null: as estimated) replace the estimate, by settle_record(). recorded: the recorded_at of its record (null: the newest with this request id). Requires an owner.';
