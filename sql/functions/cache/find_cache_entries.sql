create or replace function find_cache_entries(
    of_project bigint,
    question_part text,
    page_size integer,
    of_model text default null,
    of_namespace text default null,
    of_key bigint default null,
    of_user text default null,
    stored_before timestamptz default null,
    before_id bigint default null,
    of_version text default null
)
returns table (
    entry_id bigint,
    question text
)
language plpgsql
stable
security definer
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
begin
    perform authorize(of_project, 'member');
    return query
    with newest as materialized (
        select e.id, e.key_id, e.log_content
        from cache_entries e
        where e.project_id = of_project
            and (of_model is null or e.model = of_model)
            and (of_namespace is null or e.namespace = of_namespace)
            and (of_key is null or e.key_id = of_key)
            and (of_user is null or e.end_user = of_user)
            and (
                of_version is null
                or e.version_id in (
                    select v.id from cache_versions v where v.project_id = of_project and v.name || '@' || v.version = of_version
                )
            )
            and (stored_before is null or e.created_at < stored_before)
            and (before_id is null or e.id < before_id)
        order by e.id desc
        limit 50000
    ),
    -- Access is checked once per key.
    readable as materialized (
        select s.key_id, s.log_content
        from (select distinct n.key_id, n.log_content from newest n) s
        where may_read_texts(of_project, s.key_id, s.log_content)
    )
    select p.entry_id, case when starts_with(p.prompt, E'\x01') then p.prompt else left(p.prompt, 500) end
    from newest n
    join readable r on r.key_id is not distinct from n.key_id and r.log_content = n.log_content
    join cache_prompts p on p.entry_id = n.id and p.project_id = of_project
    where starts_with(p.prompt, E'\x01')
        or position(lower(question_part) in lower(p.prompt)) > 0
    order by p.entry_id desc
    limit page_size;
end;
$$;

comment on function find_cache_entries(bigint, text, integer, text, text, bigint, text, timestamptz, bigint, text) is
    'Cache entries whose question contains a text, newest first, with the beginning of the question, among the newest 50,000 before a given one: those that may_read_texts() lets the current user read. Sealed entries are returned without checking the text; the caller decrypts and searches them. Raises for viewers.';
