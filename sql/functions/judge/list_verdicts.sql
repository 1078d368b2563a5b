create or replace function list_verdicts(of_project bigint, before_time timestamptz, before_id text, page_size integer)
returns setof cache_verdict
language sql
stable
security definer
set search_path = model_proxy, pg_temp
as $$
    select
        p.given_at,
        p.verdict_id,
        to_unix_seconds(p.given_at),
        p.verdict,
        p.source,
        p.similarity,
        p.difference,
        coalesce(one.model, other.model),
        array[one.prompt, other.prompt]
    from (
        select v.*, format_verdict_id(v) as verdict_id
        from cache_verdicts v
        where v.project_id = of_project
            and current_project_role(of_project) is not null
            and (before_time is null or (v.given_at, format_verdict_id(v)) < (before_time, before_id))
        order by v.given_at desc, format_verdict_id(v) desc
        limit page_size
    ) p
    -- Adds the questions, if an entry has them and the current user may read them.
    left join lateral find_question_text(p.project_id, p.context_hash, p.one_hash) one on true
    left join lateral find_question_text(p.project_id, p.context_hash, p.other_hash) other on p.other_hash <> p.one_hash
    order by p.given_at desc, p.verdict_id desc;
$$;

comment on function list_verdicts(bigint, timestamptz, text, integer) is 'Verdicts of people and the judge on pairs of questions in a project, latest first, after a given one. Null: before_time, before_id (the latest).';
