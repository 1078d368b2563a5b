create or replace function find_cache_entries(
    of_project bigint,
    question_part text,
    of_model text,
    of_namespace text,
    older_than_seconds bigint,
    before_id bigint,
    page_size integer
)
returns table (
    id bigint,
    endpoint text,
    model text,
    provider text,
    namespace text,
    created_at timestamptz,
    expires_at timestamptz,
    bytes integer,
    prompt_tokens integer,
    completion_tokens integer,
    found_by text,
    question text
)
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
begin
    perform authorize_texts(of_project);
    return query
    with newest as materialized (
        select e.id
        from cache_entries e
        where e.project_id = of_project
            and (of_model is null or e.model = of_model)
            and (of_namespace is null or e.namespace = of_namespace)
            and (older_than_seconds is null or e.created_at < now() - make_interval(secs => older_than_seconds))
            and (before_id is null or e.id < before_id)
        order by e.id desc
        limit 50000
    ),
    found as materialized (
        select p.entry_id, p.prompt
        from newest n
        join cache_prompts p on p.entry_id = n.id and p.project_id = of_project
        where position(lower(question_part) in lower(p.prompt)) > 0
        order by p.entry_id desc
        limit page_size
    )
    select e.*, left(f.prompt, 500)
    from found f
    cross join lateral page_of_cache_entries(of_project, f.entry_id, null, null, null, null, 1) e
    order by e.id desc;
end;
$$;

comment on function find_cache_entries(bigint, text, text, text, bigint, bigint, integer) is
    'As page_of_cache_entries(): the entries whose question has a part, with the question''s beginning, among the newest 50,000 after the given one. Raises as authorize_texts() does.';
