create or replace function claim_ids(of_project bigint, of_provider text, under_shared_key boolean, ids text[])
returns table (id text)
language sql
volatile
set search_path = public, pg_temp
as $$
    with known as (
        select named.id, coalesce(bool_or(k.project_id = of_project), false) as is_mine, count(k.project_id) > 0 as is_bound
        from (select distinct unnest(ids)) as named (id)
        left join kept_objects k on k.id = named.id and k.provider = of_provider
        group by named.id
    ), claimed as (
        insert into kept_objects (project_id, id, collection, provider)
        select of_project, k.id, 'references', of_provider
        from known k
        where not k.is_bound and not under_shared_key
        order by k.id
        on conflict do nothing
    )
    select k.id
    from known k
    where not k.is_mine and (k.is_bound or under_shared_key);
$$;

comment on function claim_ids(bigint, text, boolean, text[]) is 'Returns those ids that the project may not name to the provider: what is bound to another project and, under a key that projects share, what is not bound to this one. With a key of its own, a project binds what it names first.';
