create or replace function search_cache(
    project_ids bigint[],
    request_hashes bytea[],
    context_hashes bytea[],
    normalized_hashes bytea[],
    space_ids integer[],
    vectors text[],
    thresholds double precision[],
    max_ages_seconds integer[],
    topic_words text[] default null,
    have_verdicts boolean[] default null,
    compare_newest boolean[] default null
)
returns table (
    place integer,
    entry_id bigint,
    request_hash text,
    match text,
    similarity double precision,
    response text,
    provider text,
    prompt_tokens integer,
    completion_tokens integer,
    created_at timestamptz,
    expires_at timestamptz,
    prompt text,
    verdict text,
    verdict_source text,
    policy text
)
language plpgsql
stable
set search_path = model_proxy, public, pg_temp
-- These are settings of the function, not of the session, so that they hold behind PgBouncer and on every pooled connection. Custom plans
-- would be created for every call: a lookup of similar prompts would take five times as long.
set plan_cache_mode = force_generic_plan
-- A plan made while a table was empty would later scan the whole table until it is analyzed: 44 ms instead of 1.4 ms for 60,000 entries.
set enable_seqscan = off
-- A bitmap would hold all prompts of a frequent word before the limit applies.
set enable_bitmapscan = off
set jit = off
as $$
#variable_conflict use_column
declare
    found integer;
    -- The prompts that are read for a pair of topic words or one word, and for all of them. Those with the most words in common are compared.
    most_by_word constant integer := 32;
    most_read constant integer := 48;
    most_compared constant integer := 16;
    -- The newest prompts of a group, where they are compared whatever their words: 0.6 µs each.
    most_newest constant integer := 512;
    most_confirmed constant integer := 20;
begin
    -- Subqueries with a limit, or offset 0, have only conditions that one index decides, and none on expiry. Otherwise a plan made while
    -- the table was empty would scan a whole project through the index on expiry. The other conditions apply to their result.
    return query
    select
        g.at::integer - 1, e.id, encode(e.request_hash, 'hex'), 'exact', null::double precision, e.response, e.provider, e.prompt_tokens,
        e.completion_tokens, e.created_at, e.expires_at, null::text, null::text, null::text, e.policy
    from unnest(project_ids, request_hashes, max_ages_seconds) with ordinality as g (project_id, request_hash, max_age_seconds, at)
    cross join lateral (
        select x.*
        from cache_entries x
        where x.project_id = g.project_id
            and x.request_hash = g.request_hash
        limit 1
    ) e
    where e.expires_at > now()
        and (g.max_age_seconds is null or e.created_at >= now() - make_interval(secs => g.max_age_seconds));
    get diagnostics found = row_count;
    if found >= cardinality(thresholds) or cardinality(array_positions(thresholds, null)) = cardinality(thresholds) then
        return;
    end if;

    -- Candidates have no response, because at most one of them is served. There are up to five with the same hash, the newest first,
    -- because one may be vetoed and the next not. Prompts that a person judged the same are found by their hash too, however low their
    -- similarity: one of each.
    return query
    select
        h.at::integer - 1, e.id, encode(e.request_hash, 'hex'), n.match, coalesce(n.similarity, 0), null::text, e.provider,
        e.prompt_tokens, e.completion_tokens, e.created_at, e.expires_at, p.prompt, v.verdict, v.source, e.policy
    from unnest(project_ids, context_hashes, normalized_hashes, thresholds, max_ages_seconds, have_verdicts) with ordinality as h (
        project_id, context_hash, normalized_hash, threshold, max_age_seconds, has_verdicts, at
    )
    cross join lateral (
        select 'normalized' as match, h.normalized_hash as name, 1::double precision as similarity, 5 as most
        union all
        select 'confirmed', x.name, x.similarity, 1
        from (
            select c.other_hash as name, c.similarity, c.source, c.verdict
            from cache_verdicts c
            where c.project_id = h.project_id
                and c.context_hash = h.context_hash
                and c.one_hash = h.normalized_hash
                and h.has_verdicts
            union all
            select c.one_hash, c.similarity, c.source, c.verdict
            from cache_verdicts c
            where c.project_id = h.project_id
                and c.context_hash = h.context_hash
                and c.other_hash = h.normalized_hash
                and h.has_verdicts
        ) x
        where x.source = 'person'
            and x.verdict = 'same'
            and x.name <> h.normalized_hash
        limit most_confirmed + 1
    ) n
    cross join lateral (
        select x.entry_id, x.prompt
        from cache_prompts x
        where x.name_key = hashtextextended(encode(h.context_hash || n.name, 'hex'), h.project_id)
            and x.project_id = h.project_id
            and x.context_hash = h.context_hash
            and x.normalized_hash = n.name
            and x.expires_at > now()
            and (h.max_age_seconds is null or x.created_at >= now() - make_interval(secs => h.max_age_seconds))
        order by x.created_at desc
        limit n.most
    ) p
    cross join lateral (select x.* from cache_entries x where x.id = p.entry_id limit 1) e
    left join lateral find_effective_verdict(h.project_id, h.context_hash, h.normalized_hash, n.name) v on true
    where h.threshold is not null
        and (n.match = 'normalized' or v.verdict = 'same');

    -- For vectors that are not computed yet: whether there is anything to compare them with.
    if cardinality(array_positions(vectors, null)) > cardinality(array_positions(space_ids, null)) then
        return query
        select
            g.at::integer - 1, 0::bigint, '', 'open', null::double precision, null::text, '', 0, 0, now(), now(), null::text, null::text,
            null::text, null::text
        from unnest(project_ids, context_hashes, space_ids, vectors, thresholds, topic_words, compare_newest) with ordinality as g (
            project_id, context_hash, space_id, vector, threshold, topic_words, compares_newest, at
        )
        where g.vector is null
            and g.threshold is not null
            and coalesce(
                (
                    select x.entry_id
                    from unnest(g.topic_words::integer[]) as w (word)
                    cross join lateral (
                        select x.entry_id
                        from prompts_by_word x
                        where x.word = w.word
                            and x.space_id = g.space_id
                            and x.project_id = g.project_id
                            and x.context_hash = g.context_hash
                        limit 1
                    ) x
                    limit 1
                ),
                (
                    select x.entry_id
                    from cache_prompts x
                    where x.group_key = hashtextextended(encode(g.context_hash, 'hex'), g.project_id)
                        and g.compares_newest
                        and x.space_id = g.space_id
                        and x.embedding is not null
                    limit 1
                )
            ) is not null;
    end if;

    if cardinality(array_positions(vectors, null)) >= cardinality(vectors) then
        return;
    end if;

    return query
    with open as materialized (
        select
            g.at::integer - 1 as place,
            g.project_id,
            g.space_id,
            g.vector::halfvec as asked,
            g.threshold,
            case when g.max_age_seconds is null then '-infinity' else now() - make_interval(secs => g.max_age_seconds) end as oldest,
            g.context_hash,
            g.normalized_hash,
            g.topic_words::integer[] as words,
            case when g.compares_newest then hashtextextended(encode(g.context_hash, 'hex'), g.project_id) end as group_key
        from unnest(
            project_ids, context_hashes, normalized_hashes, space_ids, vectors, thresholds, max_ages_seconds, topic_words, compare_newest
        ) with ordinality as g (
            project_id, context_hash, normalized_hash, space_id, vector, threshold, max_age_seconds, topic_words, compares_newest, at
        )
        where g.vector is not null
            and g.threshold is not null
    ),
    -- The nearest prompts are selected first, and the threshold is applied outside: inside, it would be computed for every row.
    near as (
        select
            o.place, o.project_id, o.context_hash, o.normalized_hash, n.entry_id, n.prompt, n.other_hash, 1 - n.distance as similarity,
            1 - n.distance > o.threshold as is_alike
        from open o
        cross join lateral (
            with by_pair as materialized (
                select c.entry_id
                from (
                    select f.word as rarer, g.word as other
                    from unnest(o.words) with ordinality as f (word, at)
                    join unnest(o.words) with ordinality as g (word, at) on g.at > f.at
                    order by f.at + g.at
                ) w
                cross join lateral (
                    select x.entry_id
                    from prompts_by_word x
                    where x.rarer_word = w.rarer
                        and x.other_word = w.other
                        and x.space_id = o.space_id
                        and x.project_id = o.project_id
                        and x.context_hash = o.context_hash
                        and x.expires_at > now()
                        and x.created_at >= o.oldest
                    limit most_by_word
                ) c
                limit most_read
            ),
            by_word as (
                select c.entry_id
                from unnest(o.words) as w (word)
                cross join lateral (
                    select x.entry_id
                    from prompts_by_word x
                    where x.word = w.word
                        and x.space_id = o.space_id
                        and x.project_id = o.project_id
                        and x.context_hash = o.context_hash
                        and x.expires_at > now()
                        and x.created_at >= o.oldest
                    limit most_by_word
                ) c
                where (select count(*) from by_pair) < most_compared
                limit most_read
            ),
            by_topic as materialized (
                select c.entry_id
                from (
                    select c.entry_id, 2 as words
                    from by_pair c
                    union all
                    select c.entry_id, 1
                    from by_word c
                ) c
                group by c.entry_id
                order by sum(c.words) desc, c.entry_id
                limit most_compared
            )
            select x.entry_id, x.prompt, x.normalized_hash as other_hash, x.embedding <=> o.asked as distance
            from by_topic c
            cross join lateral (select x.* from cache_prompts x where x.entry_id = c.entry_id limit 1) x
            union all
            select x.entry_id, x.prompt, x.normalized_hash, x.embedding <=> o.asked
            from (
                select x.*
                from cache_prompts x
                where x.group_key = o.group_key
                    and x.space_id = o.space_id
                    and x.embedding is not null
                order by x.created_at desc
                limit most_newest
            ) x
            where x.project_id = o.project_id
                and x.context_hash = o.context_hash
                and x.expires_at > now()
                and x.created_at >= o.oldest
                and x.entry_id <> all (array(select c.entry_id from by_topic c))
            order by distance
            limit 5
        ) n
    )
    select
        n.place, e.id, encode(e.request_hash, 'hex'), 'similar', n.similarity, null::text, e.provider, e.prompt_tokens, e.completion_tokens,
        e.created_at, e.expires_at, n.prompt, v.verdict, v.source, e.policy
    from near n
    cross join lateral (select x.* from cache_entries x where x.id = n.entry_id limit 1) e
    left join lateral find_effective_verdict(n.project_id, n.context_hash, n.normalized_hash, n.other_hash) v on true
    where n.is_alike
    union all
    select
        n.place, 0, '', 'below', max(n.similarity), null, '', 0, 0, now(), now(), null, null, null, null
    from near n
    group by n.place
    having not bool_or(n.is_alike);
end;
$$;

comment on function search_cache(
    bigint[], bytea[], bytea[], bytea[], integer[], text[], double precision[], integer[], text[], boolean[], boolean[]
) is
    'Finds cache entries for each request. The lists have one item per request. Returns the entry of exactly this request, and candidates in equal context: up to five with equal normalized prompt, up to twenty that a person called the same (match: confirmed), however similar, and up to five whose prompt vectors are more similar than the threshold. A candidate comes without its response, but with its prompt, and with the verdict of a person, else of a review, else of the judge. If nothing exceeds the threshold, one row (match: below) gives the similarity of the nearest, without its contents. Places count from 0. A null threshold looks for the exact entry only, a null space for no similar ones; a space without a vector asks whether there are prompts that a vector would be compared with, which one row (match: open) says; a null age accepts any. Similar prompts are looked for among those that were stored with one of the topic words (arrays of hashes as text), and where compare_newest says so, among the newest 512 of the context. What a person called the same is looked for where have_verdicts says that there may be some. Null: similarity, prompt (of an exact match), response (of any other), verdict, verdict_source (there is none), policy (no hook has checked the response).';
