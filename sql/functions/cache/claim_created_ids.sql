create or replace function claim_created_ids(of_project bigint, of_provider text, ids text[]) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    insert into stored_objects (project_id, id, collection, provider, expires_at)
    select of_project, made.id, 'references', of_provider, case when made.id not like 'conv\_%' then now() + interval '60 days' end
    from (select distinct unnest(ids)) as made (id)
    where not exists (
        select
        from stored_objects k
        where k.id = made.id
            and split_part(k.provider, '/', 1) = split_part(of_provider, '/', 1)
            and k.project_id <> of_project
    )
    order by made.id
    on conflict do nothing;
$$;

comment on function claim_created_ids(bigint, text, text[]) is 'Claims the ids of objects that the provider has created for a request, such as a response and its items, for the request''s project, for longer than providers store them: 30 days, and conversations without end. An id that another project has claimed stays that project''s: a response may repeat an id that its request named.';
