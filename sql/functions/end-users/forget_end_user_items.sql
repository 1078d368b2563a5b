create or replace function forget_end_user_items(project text, of_user text, of_kind text, max_rows integer default 10000) returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $function$
declare
    owner_id constant bigint := require_project_role(project, 'owner');
    source end_user_tables;
    batch text;
    changes text;
    changed integer;
    forgotten integer := 0;
begin
    if not exists (select from end_user_tables d where d.kind = of_kind) then
        raise exception 'there is no kind % of end_user_items', quote_for_message(of_kind) using errcode = 'invalid_parameter_value';
    end if;
    perform set_config('synchronous_commit', 'off', true);
    if of_kind in ('answer', 'vector', 'verdict') then
        -- As in invalidate_cache(), with each batch: rows that still existed may have been copied again.
        update projects p set cache_generation = p.cache_generation + 1 where p.id = owner_id;
    end if;

    for source in select * from end_user_tables d where d.kind = of_kind order by d.position loop
        batch := format(
            'array(select t.%I from %I t where t.project_id = $1 and %s limit $3)', source.batch_column, source.table_name, source.matches
        );
        changes := (
            select string_agg(
                case c.name
                    when 'tags' then $$tags = case when t.tags ->> 'user_id' = $2 then nullif(t.tags - 'user_id', '{}') else t.tags end$$
                    else format('%I = null', c.name)
                end,
                ', '
            )
            from unnest(source.cleared) as c (name)
        );
        execute case
            when source.deletion is not null then 'select ' || replace(source.deletion, '%s', batch)
            else format(
                'with forgotten as (%s where t.project_id = $1 and %s and t.%I = any (%s) returning 1) select count(*) from forgotten',
                case when changes is null then format('delete from %I t', source.table_name) else format('update %I t set %s', source.table_name, changes) end,
                source.matches, source.batch_column, batch
            )
        end into changed using owner_id, of_user, max_rows - forgotten;
        forgotten := forgotten + changed;
        exit when forgotten >= max_rows;
    end loop;
    return forgotten;
end;
$function$;

comment on function forget_end_user_items(text, text, text, integer) is 'Forgets the next stored items of an end user (in the form of name_end_user()), of one kind of end_user_tables, and returns how many; fewer than max_rows: none are left. Records, sums and batches stay without the name: the amounts spent do not change. Each call is short and locks only these rows, so that requests and their recording continue. forget_end_user() comes first, and writes to the audit log. Requires an owner of the project.';
