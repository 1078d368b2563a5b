create or replace function read_cache_entry(of_project bigint, of_entry bigint)
returns table (
    question text,
    response text
)
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
begin
    perform authorize_texts(of_project);
    return query
    select p.prompt, e.response
    from cache_entries e
    left join cache_prompts p on p.entry_id = e.id and p.project_id = of_project
    where e.project_id = of_project and e.id = of_entry;
end;
$$;

comment on function read_cache_entry(bigint, bigint) is 'An entry''s question and its answer. Raises as authorize_texts() does. Null: question (it is found by its whole request alone).';
