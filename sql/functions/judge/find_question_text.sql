create or replace function find_question_text(of_project bigint, of_context bytea, of_hash bytea)
returns table (
    prompt text,
    model text
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select case when w.is_readable then w.prompt end, w.model
    from (
        select p.prompt, e.model, may_read_texts(of_project, e.key_id, e.log_content) as is_readable
        from cache_prompts p
        join cache_entries e on e.id = p.entry_id
        where p.name_key = hashtextextended(encode(of_context || of_hash, 'hex'), of_project)
            and p.project_id = of_project
            and p.context_hash = of_context
            and p.normalized_hash = of_hash
    ) w
    order by w.is_readable desc
    limit 1;
$$;

comment on function find_question_text(bigint, bytea, bytea) is 'Finds a stored question by its normalized hash, with its model. The text is omitted if may_read_texts() returns false. Null: prompt.';
