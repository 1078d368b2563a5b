-- Forgets an end user of a project: what is kept of one whom requests named (safety_identifier, user, metadata.user_id). Prints what there is
-- of each kind, how many and how many bytes. Records of requests stay without the name, and what was spent stays spent.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -v user=alice -v dry_run=true -f scripts/forget-user.sql
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -v user=alice -f scripts/forget-user.sql
--
-- user: the whole name. dry_run: only prints.
\ir begin-with-project.sql
\if :{?user}
\else
do $$ begin raise exception 'user is missing: give -v user=alice'; end $$;
\endif
\if :{?dry_run}
\else
\set dry_run false
\endif

select f.id, f.items, f.bytes
from :"schema".forget_end_user(:'project', :"schema".name_end_user(:'user'), (:'dry_run')::boolean) f;

-- A part at a time, each in a transaction of its own. What came meanwhile is forgotten, too.
\o /dev/null
select
    format(
        'select %I.forget_end_user_items(%L, %I.name_end_user(%L), %L, 10000)',
        :'schema', :'project', :'schema', :'user', f.id
    )
from :"schema".find_end_user(:'project', :"schema".name_end_user(:'user')) f
cross join generate_series(0, f.items / 10000)
where not (:'dry_run')::boolean
\gexec
\o
