create or replace function delete_vectors(of_project bigint, given_names bytea[]) returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
declare
    result integer;
begin
    with gone as (
        delete from cached_vectors v
        where v.project_id = of_project
            and (given_names is null or v.name = any (given_names))
        returning v.test, v.bytes
    ),
    counted as (
        insert into cache_size_changes (project_id, kind, test, entries, bytes)
        select of_project, 'vectors', g.test, -count(*), -sum(g.bytes)
        from gone g
        group by g.test
        returning entries
    )
    select coalesce(-sum(c.entries), 0) into result from counted c;
    return result;
end;
$$;

comment on function delete_vectors(bigint, bytea[]) is 'Deletes these vectors of a project, or with null all, counts the deletions, and returns how many there were.';
