-- Deletes cached responses of a project and prints their number: all, or those to requests of one key or end user.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -f scripts/purge-cache.sql
--
-- Optional: -v user=alice (the end user's whole name in requests), -v key=lgw_proj_AbCd1234 (a whole key, or its prefix),
-- -v version=docs@42 or -v version=docs (X-Proxy-Cache-Version of requests, or a name: the next version of it that a request names is then
-- the newest), -v dry_run=true (counts without deleting).
\ir begin-with-project.sql
\if :{?user}
\set of_user true
\else
\set of_user false
\set user ''
\endif
\if :{?key}
\set of_key true
\else
\set of_key false
\set key ''
\endif
\if :{?version}
\set of_version true
\else
\set of_version false
\set version ''
\endif
\if :{?dry_run}
\else
\set dry_run false
\endif

select entries
from :"schema".invalidate_cache(
    :'project',
    of_user => case when :of_user then :"schema".name_end_user(:'user') end,
    of_key => case when :of_key then :"schema".find_key(:'key') end,
    of_version => case when :of_version then :'version' end,
    dry_run => (:'dry_run')::boolean
);
