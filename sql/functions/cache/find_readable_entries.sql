create or replace function find_readable_entries(of_project bigint, of_key bigint, entry_ids bigint[])
returns table (
    entry_id bigint
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select e.id
    from cache_entries e
    where e.project_id = of_project
        and e.id = any (entry_ids)
        and (e.key_id = of_key or may_read_texts(of_project, e.key_id, e.log_content));
$$;

comment on function find_readable_entries(bigint, bigint, bigint[]) is 'Returns those of the entries whose questions the key may read: its own, and those that may_read_texts() lets members read.';
