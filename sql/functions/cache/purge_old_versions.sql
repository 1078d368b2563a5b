create or replace function purge_old_versions(max_rows integer)
returns table (project_id bigint, cache_generation integer, entries text[], vectors text[])
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
declare
    old record;
    remaining integer := max_rows;
    chosen bigint[];
    chosen_vectors bytea[];
begin
    -- Another process that purges a version is not waited for.
    for old in
        select v.id, v.project_id, p.cache_generation
        from cache_versions v
        join projects p on p.id = v.project_id
        where v.superseded_at is not null
            and not v.purged
        order by v.id
        limit max_rows
        for update of v skip locked
    loop
        exit when remaining <= 0;
        select coalesce(array_agg(e.id), '{}'), coalesce(array_agg(encode(e.request_hash, 'hex')), '{}')
        into chosen, entries
        from (
            select x.id, x.request_hash
            from cache_entries x
            where x.version_id = old.id
            limit remaining
            for update skip locked
        ) e;
        delete from cache_entries e where e.id = any (chosen);
        remaining := remaining - cardinality(chosen);
        chosen_vectors := array(
            select c.name
            from cached_vectors c
            where c.project_id = old.project_id
                and c.version_id = old.id
            limit remaining
            for update skip locked
        );
        perform delete_vectors(old.project_id, chosen_vectors);
        remaining := remaining - cardinality(chosen_vectors);
        vectors := array(select encode(n.name, 'hex') from unnest(chosen_vectors) as n (name));
        -- Nothing is stored under a superseded version any more, so that it is purged for good. Rows that were locked are deleted later.
        if remaining > 0 and not exists (select from cache_entries e where e.version_id = old.id) then
            perform from cached_vectors c where c.project_id = old.project_id and c.version_id = old.id limit 1;
            if not found then
                update cache_versions v set purged = true where v.id = old.id;
            end if;
        end if;
        project_id := old.project_id;
        cache_generation := old.cache_generation;
        return next;
    end loop;
end;
$$;

comment on function purge_old_versions(integer) is 'Deletes up to that many entries and vectors of superseded versions, and returns the names of their copies in Redis. If it deleted that many, more may be left.';
