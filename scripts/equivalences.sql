-- Prints the exchanges of words that a project's verdicts have shown to be harmless: the two texts, the number of pairs of questions, since
-- when, and the words that must be around them.
--
--   psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -v project=acme -f scripts/equivalences.sql
\set ON_ERROR_STOP 1
\set VERBOSITY terse
\set SHOW_CONTEXT never

\if :{?project}
\else
do $$ begin raise exception 'project is missing: give -v project=acme'; end $$;
\endif

select find_project(:'project') as project_id \gset

select e.one_words, e.other_words, e.pairs, e.learned_at, array_to_string(e.around, ' ') as around
from equivalences e
where e.project = :'project'
    and e.state = 'learned'
order by e.learned_at, e.one_words, e.other_words;
