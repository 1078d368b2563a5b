create or replace function settle_batch(of_project bigint, batch_id text) returns boolean
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    with settling as (
        update kept_objects k
        set settled = true
        where k.project_id = of_project
            and k.id = batch_id
            and not k.settled
        returning 1
    )
    select exists (select from settling);
$$;

comment on function settle_batch(bigint, text) is 'True for one caller per batch, however many ask at once: that caller records its usage.';
