create or replace function delete_unreconciled_response(of_project bigint, response_id text) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    delete from unreconciled_responses o
    where o.project_id = of_project
        and o.id = response_id;
$$;

comment on function delete_unreconciled_response(bigint, text) is 'Deletes a response whose usage its provider will never report: the estimate stays.';
