create or replace function page_of_cache_entries(
    of_project bigint,
    only_entry bigint,
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
    found_by text
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select
        e.id,
        e.endpoint,
        e.model,
        e.provider,
        e.namespace,
        e.created_at,
        e.expires_at,
        pg_column_size(e.response),
        e.prompt_tokens,
        e.completion_tokens,
        case when p.entry_id is null then 'exact' when p.space_id is null then 'normalized' else 'similar' end
    from cache_entries e
    left join cache_prompts p on p.entry_id = e.id
    where e.project_id = of_project
        and (only_entry is null or e.id = only_entry)
        and (of_model is null or e.model = of_model)
        and (of_namespace is null or e.namespace = of_namespace)
        and (older_than_seconds is null or e.created_at < now() - make_interval(secs => older_than_seconds))
        and (before_id is null or e.id < before_id)
    order by e.id desc
    limit page_size;
$$;

comment on function page_of_cache_entries(bigint, bigint, text, text, bigint, bigint, integer) is
    'Cache entries of a project, newest first, after a given one, without content; found_by: exact request only, normalized prompt, or similar ones too.';
