create or replace function delete_expired_entries(at_most integer) returns integer
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    deleted integer;
    deleted_vectors integer;
begin
    -- Small bites, skipping what another proxy is deleting: no long locks, and vacuum keeps up.
    delete from cache_entries e
    where e.id in (
        select x.id
        from cache_entries x
        where x.expires_at <= now()
        order by x.expires_at
        limit at_most
        for update skip locked
    );
    get diagnostics deleted = row_count;

    delete from cached_vectors v
    where (v.project_id, v.name) in (
        select x.project_id, x.name
        from cached_vectors x
        where x.expires_at <= now()
        order by x.expires_at
        limit at_most
        for update skip locked
    );
    get diagnostics deleted_vectors = row_count;
    return greatest(deleted, deleted_vectors);
end;
$$;

comment on function delete_expired_entries(integer) is 'Deletes up to that many expired cache entries, and as many expired vectors; returns the greater number: less than asked for means that none are left.';
