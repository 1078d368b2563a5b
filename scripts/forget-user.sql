-- Deletes all data of an end user of a project, identified by the name in requests (safety_identifier, user, metadata.user_id). Prints
-- number and bytes of each kind of data. Request records remain without the name, and spending remains counted.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -v user=alice -v dry_run=true -f scripts/forget-user.sql
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -v user=alice -f scripts/forget-user.sql
--
-- user: the whole name. dry_run: prints without deleting.
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

-- Deletes in batches, each in a separate transaction. Includes data that was stored meanwhile.
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
