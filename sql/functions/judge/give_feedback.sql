create or replace function give_feedback(project text, request_id text, verdict text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := require_cache_right(project, 'judge');
begin
    if verdict is null or verdict not in ('wrong', 'right') then
        raise exception 'verdict % is not valid: it is wrong or right', quote_for_message(verdict) using errcode = 'invalid_parameter_value';
    end if;
    case record_feedback(owner_id, request_id, verdict)
        when 'unknown' then
            raise exception 'no semantic hit of the last week was served under request id %', quote_for_message(request_id)
                using errcode = 'no_data_found';
        when 'gone' then
            raise exception 'the cached response of request % has expired or was deleted', quote_for_message(request_id)
                using errcode = 'no_data_found';
        else null;
    end case;
    perform audit('cache.verdict', owner_id, request_id, jsonb_build_object('verdict', verdict));
end;
$$;

comment on function give_feedback(text, text, text) is 'record_feedback() for members and operators. Raises on an unknown project or request id, on a verdict other than wrong or right, and when the entry no longer exists.';
