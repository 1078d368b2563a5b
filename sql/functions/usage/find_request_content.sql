create or replace function find_request_content(of_project bigint, of_request_id text, at timestamptz)
returns table (
    sealed_request bytea,
    sealed_response bytea
)
language plpgsql
stable
security definer
set search_path = model_proxy, pg_temp
as $$
begin
    perform authorize(of_project, 'member');
    return query
    select c.sealed_request, c.sealed_response
    from request_contents c
    where c.project_id = of_project
        and c.request_id = of_request_id
        and c.recorded_at = at
        and may_read_texts(of_project, c.key_id, 'sealed');
end;
$$;

comment on function find_request_content(bigint, text, timestamptz) is 'Returns the sealed contents of the request that ended at that time, and of its response. Raises for viewers. Null: sealed_request, sealed_response (it was not stored).';
