create or replace function delete_entries(ids bigint[]) returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    deleted integer;
begin
    -- Their prompts are deleted with them.
    delete from cache_entries e where e.id = any (ids);
    get diagnostics deleted = row_count;
    return deleted;
end;
$$;

comment on function delete_entries(bigint[]) is 'Deletes these cache entries with their prompts, and returns how many entries there were.';
