create or replace function claim_batch_settlement(of_project bigint, batch_id text) returns table (tags text, end_user text)
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    update stored_objects k
    set settled_at = now()
    where k.project_id = of_project
        and k.id = batch_id
        and k.settled_at is null
    returning k.tags::text, k.end_user;
$$;

comment on function claim_batch_settlement(bigint, text) is 'Returns a row to exactly one caller per batch, which then records its usage: the tags of the request that started the batch, as JSON, and its end user. Null: tags (it had none), end_user (it named none).';
