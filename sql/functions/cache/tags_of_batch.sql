create or replace function tags_of_batch(of_project bigint, batch_id text) returns jsonb
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select k.tags
    from kept_objects k
    where k.project_id = of_project
        and k.id = batch_id;
$$;

comment on function tags_of_batch(bigint, text) is 'The tags of the request that started a batch; null for none.';
