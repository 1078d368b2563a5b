create or replace function similarity_histogram(of_project bigint)
returns setof similarity_band
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    with seen as (
        select
            least(99, floor(h.similarity * 100 + 1e-6)) as bin,
            count(*) filter (where h.reason <> 'undecided') as served,
            count(*) filter (where h.reason = 'undecided') as stopped,
            sum(h.saved_usd) filter (where h.reason <> 'undecided') as saved_usd,
            sum(h.saved_usd) filter (where h.reason = 'undecided') as missed_usd
        from semantic_hits h
        where h.project_id = of_project
        group by 1
    ),
    judged as (
        select least(99, floor(v.similarity * 100 + 1e-6)) as bin, v.verdict
        from effective_verdicts v
        where v.project_id = of_project
            and v.similarity is not null
    ),
    said as (
        select j.bin, count(*) filter (where j.verdict = 'same') as same, count(*) filter (where j.verdict = 'different') as different
        from judged j
        group by 1
    )
    select
        b.bin / 100.0::double precision,
        coalesce(s.served, 0),
        coalesce(s.stopped, 0),
        coalesce(s.saved_usd, 0),
        coalesce(s.missed_usd, 0),
        coalesce(j.same, 0),
        coalesce(j.different, 0)
    from generate_series(50, 99) as b (bin)
    left join seen s on s.bin = b.bin
    left join said j on j.bin = b.bin
    order by b.bin;
$$;

comment on function similarity_histogram(bigint) is
    'A project''s last week by similarity, in hundredths from 0.50 on: semantic hits, near misses, their actual or possible savings, and pairs with a verdict of a person, or else of the judge.';
