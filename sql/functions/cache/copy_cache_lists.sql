create or replace function copy_cache_lists(from_lists bigint, to_lists bigint, of_group bigint, in_space integer) returns void
language plpgsql
volatile
set search_path = model_proxy, public, pg_temp
as $$
begin
    execute format(
        $query$
        insert into cache_lists_%2$s (entry_id, code)
        select distinct p.entry_id, cache_code(p.embedding)
        from cache_lists_%1$s g
        join cache_prompts p on p.entry_id = g.entry_id
        where p.group_key = $1
            and p.space_id = $2
            and p.in_lists
            and p.expires_at > now()
            and not exists (select 1 from cache_lists_%2$s t where t.entry_id = p.entry_id)
        $query$,
        from_lists, to_lists
    )
    using of_group, in_space;
end;
$$;

comment on function copy_cache_lists(bigint, bigint, bigint, integer) is 'Copies codes from one table of a group''s lists to another: those of stored entries that it does not have yet.';
