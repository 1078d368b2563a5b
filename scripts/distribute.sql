-- Distributes cached vectors and stored responses over the workers of a Citus cluster by project_id, co-located: all rows of a project are
-- on one server. Run it once, on the coordinator, after `migrate` and before proxies serve requests:
--
--   psql "$DATABASE_URL" -f scripts/distribute.sql
--
-- All other tables stay on the coordinator (docs/production.md explains why). Constraints and policies that a distributed table cannot have
-- are dropped below, each with its reason. A second run changes nothing.
\ir begin.sql
begin;
set local search_path to :"schema", public;

do $$
begin
    if not exists (select from pg_extension where extname = 'citus') then
        raise exception 'the extension citus is not installed in this database: `create extension citus`, then add the workers with citus_add_node()';
    end if;
    if to_regclass('cache_entries') is null then
        raise exception 'this database has no tables of Model Proxy yet: run its command `migrate` first';
    end if;
    if not exists (select from pg_dist_node where noderole = 'primary' and groupid <> 0 and isactive) then
        raise exception 'the coordinator knows no workers: add them with citus_add_node()';
    end if;
end
$$;

set local client_min_messages = warning;
do $$
declare
    large constant text[] := array['cached_vectors', 'stored_responses'];
    part record;
    name text;
begin
    if exists (select from pg_dist_partition d where d.logicalrelid = 'cached_vectors'::regclass) then
        return;
    end if;

    -- Foreign keys refer to tables that stay on the coordinator. Functions lock the project before they store rows, and the trigger
    -- projects_deleted deletes the rows of a deleted project.
    for part in
        select c.conrelid::regclass as of_table, c.conname
        from pg_constraint c
        where c.contype = 'f' and c.conparentid = 0 and c.conrelid::regclass::text = any (large)
    loop
        execute format('alter table %s drop constraint %I', part.of_table, part.conname);
    end loop;

    -- A policy with a subquery would read the coordinator's tables on workers. Row security remains enabled: the dashboard's role sees no
    -- row of these tables, and count_vectors() returns their number.
    for part in
        select p.polrelid::regclass as of_table, p.polname
        from pg_policy p
        where p.polrelid::regclass::text = any (large)
    loop
        execute format('drop policy %I on %s', part.polname, part.of_table);
    end loop;

    foreach name in array large
    loop
        perform create_distributed_table(name, 'project_id', colocate_with => case name when 'cached_vectors' then 'none' else 'cached_vectors' end);
        -- The rows are on the workers now.
        perform truncate_local_data_after_distributing_table(name);
    end loop;
end
$$;

commit;
\echo Distributed.
