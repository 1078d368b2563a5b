-- Prints, for each threshold of a project, how many pairs with a verdict exceed it, and the share of equal questions among them.
--
--   psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -v project=acme -f scripts/calibration.sql
\ir begin-with-project.sql

select :"schema".find_project(:'project') as project_id \gset

select
    c.difference,
    to_char(c.threshold, '0.00') as threshold,
    c.served as pairs,
    to_char(100 * c.hit_ratio, '990.0') as "of all, %",
    to_char(100 * c.precision, '990.0') as "right, %",
    to_char(100 * c.precision_low, '990.0') || ' –' || to_char(100 * c.precision_high, '990.0') as "95 % interval"
from :"schema".calibration c
where c.project_id = :project_id
    and (c.threshold * 100)::integer in (50, 60, 70, 75, 80, 85, 90, 93, 95, 97, 99)
order by (c.difference <> 'all'), c.difference, c.threshold;
