create or replace function learn_thresholds() returns void
language sql
volatile
set search_path = public, pg_temp
as $$
    with wanted as (
        select p.id, p.semantic_error_rate
        from projects p
        where p.semantic_error_rate > 0
    ),
    learned as (
        select
            w.id,
            coalesce((
                select min(c.threshold)
                from calibration c
                where c.project_id = w.id
                    and c.difference = 'all'
                    -- Fewer are no evidence.
                    and c.served >= 100
                    and c.served / c.hit_ratio >= 200
                    and 1 - c.precision_low <= w.semantic_error_rate
            ), 2) as threshold
        from wanted w
    )
    update projects p
    set learned_threshold = l.threshold
    from learned l
    where p.id = l.id
        and p.learned_threshold <> l.threshold;
$$;

comment on function learn_thresholds() is
    'Sets learned_threshold of each project with a semantic_error_rate: the lowest threshold at which, by 100 of 200 verdicts or more, errors stay below that rate with 97.5 % confidence; 2 when there is none.';
