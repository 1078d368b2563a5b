create or replace function tag_batch(of_project bigint, batch_id text, started_with jsonb) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    update kept_objects k
    set tags = started_with
    where k.project_id = of_project
        and k.id = batch_id;
$$;

comment on function tag_batch(bigint, text, jsonb) is 'Notes the tags of the request that started a batch.';
