create or replace function cache_stats(of_project bigint)
returns setof cache_stats
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select
        e.entries,
        e.bytes,
        p.prompts,
        p.with_vector,
        count_vectors(of_project),
        e.expired,
        e.saveable_tokens,
        to_unix_seconds(e.oldest_at),
        to_unix_seconds(e.newest_at)
    from (
        select
            count(*) as entries,
            coalesce(sum(c.bytes), 0) as bytes,
            count(*) filter (where c.expires_at <= now()) as expired,
            min(c.created_at) as oldest_at,
            max(c.created_at) as newest_at,
            coalesce(sum(c.prompt_tokens), 0)::bigint as saveable_tokens
        from cache_entries c
        where c.project_id = of_project
    ) e,
    (
        select count(*) as prompts, count(c.space_id) as with_vector
        from cache_prompts c
        where c.project_id = of_project
    ) p;
$$;

comment on function cache_stats(bigint) is 'The contents of a project''s cache: entries and their stored bytes, prompts and vectors.';
