create or replace function list_semantic_matches(
    of_project bigint,
    served boolean,
    only_request text,
    before_time timestamptz,
    before_request_id text,
    page_size integer
)
returns setof cache_match
language sql
stable
security definer
set search_path = model_proxy, pg_temp
as $$
    select
        h.served_at,
        case when may_read_texts(of_project, e.key_id, e.log_content) then c.prompt end,
        case when h.sealed_wording is not null and may_read_texts(of_project, h.key_id, 'sealed') then h.sealed_wording end,
        h.request_id,
        to_unix_seconds(h.served_at),
        h.reason,
        h.difference,
        h.similarity,
        h.is_shadow,
        h.saved_usd,
        h.prompt_tokens,
        'entry_' || e.id,
        e.model,
        e.endpoint,
        v.verdict,
        v.source
    from (
        select m.*
        from semantic_hits m
        where m.project_id = of_project
            and current_project_role(of_project) is not null
            and (m.reason <> 'undecided') = served
            and (only_request is null or m.request_id = only_request)
            and (before_time is null or (m.served_at, m.request_id) < (before_time, before_request_id))
        order by m.served_at desc, m.request_id desc
        limit page_size
    ) h
    left join cache_entries e on e.project_id = h.project_id and e.request_hash = h.entry_hash
    left join cache_prompts c on c.entry_id = e.id
    left join lateral find_effective_verdict(h.project_id, c.context_hash, h.asked_hash, c.normalized_hash) v on true
    order by h.served_at desc, h.request_id desc;
$$;

comment on function list_semantic_matches(bigint, boolean, text, timestamptz, text, integer) is
    'Semantic hits of a project (served), or near misses, latest first, after a given one, with the verdict on each pair. Wordings only where may_read_texts() lets the current user read them. Null: only_request, before_time, before_request_id (any).';
