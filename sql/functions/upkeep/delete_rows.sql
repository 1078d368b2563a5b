create or replace function delete_rows(place text, condition text, max_rows integer) returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    deleted integer;
begin
    execute format(
        'delete from %1$I where ctid = any (array(select x.ctid from %1$I x where %2$s limit %3$s for update skip locked))',
        place, condition, max_rows
    );
    get diagnostics deleted = row_count;
    return deleted;
end;
$$;

comment on function delete_rows(text, text, integer) is 'Deletes up to that many rows of a table that satisfy a condition, except those that another transaction has locked, and returns how many.';
