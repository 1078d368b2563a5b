create or replace function delete_expired_entries(at_most integer) returns integer
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    expired bigint[];
    deleted_vectors integer;
begin
    -- In small batches, skipping rows that another proxy is deleting: no long locks, and vacuum keeps up.
    expired := array(
        select x.id
        from projects p
        cross join (values (false), (true)) as kinds (test)
        cross join lateral (
            select e.id
            from cache_entries e
            where e.project_id = p.id
                and e.test = kinds.test
                and e.expires_at <= now()
            order by e.expires_at
            limit at_most
            for update skip locked
        ) x
        limit at_most
    );
    if cardinality(expired) > 0 then
        perform delete_entries(expired);
    end if;

    delete from cached_vectors v
    where v.ctid = any (array(
        select x.ctid
        from projects p
        cross join (values (false), (true)) as kinds (test)
        cross join lateral (
            select c.ctid
            from cached_vectors c
            where c.project_id = p.id
                and c.test = kinds.test
                and c.expires_at <= now()
            order by c.expires_at
            limit at_most
            for update skip locked
        ) x
        limit at_most
    ));
    get diagnostics deleted_vectors = row_count;
    return greatest(cardinality(expired), deleted_vectors);
end;
$$;

comment on function delete_expired_entries(integer) is 'Deletes up to that many expired cache entries, and as many expired vectors; returns the greater number. Fewer than asked for means that none are left.';
