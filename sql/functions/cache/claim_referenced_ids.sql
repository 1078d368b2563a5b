create or replace function claim_referenced_ids(of_project bigint, of_provider text, under_shared_key boolean, ids text[])
returns table (id text)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
declare
    unclaimed constant text[] := array(
        select distinct named.id
        from unnest(ids) as named (id)
        where not under_shared_key
            and not exists (select from stored_objects k where k.id = named.id and split_part(k.provider, '/', 1) = of_provider)
    );
begin
    -- Projects that name an unknown id at the same time take turns. There are only 64 locks, because one body may name thousands of ids.
    perform pg_advisory_xact_lock(hashtext('model_proxy claimed id'), turn)
    from (select distinct hashtext(named.id) & 63 as turn from unnest(unclaimed) as named (id) order by turn) as turns;
    insert into stored_objects (project_id, id, collection, provider)
    -- The key that created the object is unknown.
    select of_project, named.id, 'references', of_provider || '/'
    from unnest(unclaimed) as named (id)
    where not exists (select from stored_objects k where k.id = named.id and split_part(k.provider, '/', 1) = of_provider)
    order by named.id
    on conflict do nothing;
    return query
    with known as (
        select named.id, coalesce(bool_or(k.project_id = of_project), false) as is_mine, count(k.project_id) > 0 as is_claimed
        from (select distinct unnest(ids)) as named (id)
        left join stored_objects k on k.id = named.id and split_part(k.provider, '/', 1) = of_provider
        group by named.id
    )
    select k.id
    from known k
    where not k.is_mine and (k.is_claimed or under_shared_key);
end;
$$;

comment on function claim_referenced_ids(bigint, text, boolean, text[]) is 'Returns the ids that the project may not name to the provider: those that another project has claimed and, under a key that projects share, those that this project has not claimed. With a key of its own, a project claims the ids that it names first; if several projects name an id at the same time, one of them claims it.';
