create or replace function find_readable_request(of_project bigint, of_request_id text, at timestamptz) returns bytea
language sql
stable
security definer
set search_path = model_proxy, pg_temp
as $$
    select c.sealed_request
    from request_contents c
    where c.project_id = of_project
        and c.request_id = of_request_id
        and c.recorded_at = at
        and current_project_role(of_project) is not null
        and may_read_texts(of_project, c.key_id, 'sealed');
$$;

comment on function find_readable_request(bigint, text, timestamptz) is 'Returns the sealed body of the request that ended at that time. Null: result (it was not stored, or the current user may not read it: may_read_texts).';
