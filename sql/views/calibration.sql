-- The precision and hit ratio of each threshold, by the verdicts on pairs of questions, for choosing a threshold or a policy.

create or replace view calibration with (security_invoker = true) as
with judged as (
    select
        v.project_id,
        v.similarity,
        coalesce(v.difference, 'unknown') as difference,
        (v.verdict = 'same')::integer as is_same
    from effective_verdicts v
    where v.similarity is not null
),
totals as (
    select j.project_id, coalesce(j.difference, 'all') as difference, count(*) as pairs
    from judged j
    group by grouping sets ((j.project_id, j.difference), (j.project_id))
),
counted as (
    select
        j.project_id,
        coalesce(j.difference, 'all') as difference,
        t.threshold,
        count(*)::double precision as served,
        sum(j.is_same)::double precision as right_ones
    from judged j
    join (select n / 100.0::double precision as threshold from generate_series(50, 99) n) t on j.similarity > t.threshold
    group by grouping sets ((j.project_id, j.difference, t.threshold), (j.project_id, t.threshold))
),
-- Wilson score interval, which is valid for few pairs and when all pairs are right.
scored as (
    select
        c.*,
        c.right_ones / c.served as precision,
        1 + 1.96 ^ 2 / c.served as scale,
        c.right_ones / c.served + 1.96 ^ 2 / (2 * c.served) as centre,
        1.96 * sqrt(c.right_ones / c.served * (1 - c.right_ones / c.served) / c.served + 1.96 ^ 2 / (4 * c.served ^ 2)) as spread
    from counted c
)
select
    s.project_id,
    p.name as project,
    s.difference,
    s.threshold,
    s.served::bigint as served,
    s.served / t.pairs as hit_ratio,
    s.precision,
    greatest(0, (s.centre - s.spread) / s.scale) as precision_low,
    least(1, (s.centre + s.spread) / s.scale) as precision_high
from scored s
join totals t on t.project_id = s.project_id and t.difference = s.difference
join projects p on p.id = s.project_id;

comment on view calibration is 'For pairs of questions with a verdict of a person or the judge: how many each threshold would serve, and how many of those are right.';
comment on column calibration.project is 'Its name.';
comment on column calibration.difference is 'The kind of difference that prevented proof; unknown: none was recorded; all: every kind.';
comment on column calibration.threshold is 'Similarity that must be exceeded.';
comment on column calibration.served is 'Pairs above the threshold.';
comment on column calibration.hit_ratio is 'Their share of all pairs with a verdict.';
comment on column calibration.precision is 'Share of them that are the same question.';
comment on column calibration.precision_low is 'Lower end of its 95 % confidence interval.';
comment on column calibration.precision_high is 'Upper end of its 95 % confidence interval.';
