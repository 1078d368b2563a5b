create or replace function read_cache_entry(of_project bigint, of_entry bigint)
returns table (
    question text,
    response text
)
language plpgsql
stable
security definer
set search_path = model_proxy, pg_temp
as $$
declare
    entry record;
begin
    perform authorize(of_project, 'member');
    select p.prompt, e.response, e.key_id, e.log_content into entry
    from cache_entries e
    left join cache_prompts p on p.entry_id = e.id and p.project_id = of_project
    where e.project_id = of_project and e.id = of_entry;
    if not found then
        return;
    end if;
    if not may_read_texts(of_project, entry.key_id, entry.log_content) then
        raise exception 'the text of this cached response can be read only if log_content was sealed when it was created and still is'
            using errcode = 'insufficient_privilege';
    end if;
    return query select entry.prompt, entry.response;
end;
$$;

comment on function read_cache_entry(bigint, bigint) is 'Reads an entry''s question and response. Raises insufficient_privilege if may_read_texts() returns false. Null: question (only the exact request finds it).';
