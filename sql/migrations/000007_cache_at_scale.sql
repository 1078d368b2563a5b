-- A cache of any size: groups found by one key, graphs of their own for the large ones, bounds on what a project keeps.

alter table plans add column max_cache_ttl_seconds integer not null default 2592000
    constraint plans_max_cache_ttl_positive check (max_cache_ttl_seconds > 0);

comment on column plans.max_cache_ttl_seconds is 'Longest that an answer may stay in the cache, whatever a project or a request asks for.';

alter table projects add column cache_bytes bigint not null default 1073741824
    constraint projects_cache_bytes_positive check (cache_bytes >= 0);

comment on column projects.cache_bytes is 'How much the project may keep of answers and vectors; beyond it, what would expire first goes. Enforced once a minute.';

create table installation (
    only_row boolean primary key default true
        check (only_row),
    id uuid not null default gen_random_uuid()
);
insert into installation default values;

comment on table installation is 'One row: which installation this is.';
comment on column installation.only_row is 'Always true: there is no second row.';
comment on column installation.id is 'Made with the database. Give a physical copy of a running database a new one before a proxy starts on it.';

-- Graphs of all groups together are replaced by one a group. What was in them is still found word for word and by its
-- normalized text, and by similarity once it is stored again: its vector would make lookups slow until it expires.
-- squawk-ignore-file
do $$
declare
    graph record;
begin
    for graph in select c.relname from pg_class c where c.relkind = 'i' and c.relname ~ '^cache_prompts_graph_\d+_idx$' loop
        execute format('drop index %I', graph.relname);
    end loop;
end
$$;
update cache_prompts set space_id = null, embedding = null, in_graph = false where in_graph;

drop index cache_prompts_normalized_idx;
drop index cache_prompts_group_idx;
drop index cache_prompts_space_id_idx;
-- Spaces are never deleted, and every store paid for the check.
alter table cache_prompts drop constraint cache_prompts_space_id_fkey;

-- One key a question, and one index a key: given two columns each, the planner would take them for independent and swap them.
alter table cache_prompts
    add column group_key bigint not null
        generated always as (hashtextextended(encode(context_hash, 'hex'), project_id)) stored,
    add column name_key bigint not null
        generated always as (hashtextextended(encode(context_hash || normalized_hash, 'hex'), project_id)) stored;

create index cache_prompts_name_key_idx on cache_prompts (name_key);
create index cache_prompts_compared_idx on cache_prompts (group_key, space_id) where not in_graph and space_id is not null;

comment on column cache_prompts.group_key is 'Hash of project and context, to find a group by; equality of both decides.';
comment on column cache_prompts.name_key is 'Hash of project, context and normalized text, to find a prompt by; equality of all three decides.';
comment on column cache_prompts.in_graph is 'Whether the prompt is found through the graph of its group. Small groups have none: their prompts are compared one by one.';

alter table embedding_spaces add column has_graphs boolean not null default false;

comment on column embedding_spaces.has_graphs is 'Whether large groups get a graph; without, every prompt of a group is compared.';

create sequence cache_graph_numbers;

comment on sequence cache_graph_numbers is 'Numbers of the tables cache_graph_<number>.';

create table cache_groups (
    group_key bigint not null,
    space_id integer not null
        references embedding_spaces (id) on delete cascade,
    project_id bigint not null
        references projects (id) on delete cascade,
    sampled integer not null
        check (sampled >= 0),
    graph bigint unique,
    graph_deleted bigint not null default 0,
    primary key (group_key, space_id)
);

create index cache_groups_project_id_idx on cache_groups (project_id);
create index cache_groups_space_id_idx on cache_groups (space_id);

comment on table cache_groups is 'How large groups of comparable prompts are, estimated from every sixteenth prompt: small ones have no row.';
comment on column cache_groups.group_key is 'As in cache_prompts.';
comment on column cache_groups.space_id is 'The embedding space of the vectors counted.';
comment on column cache_groups.project_id is 'The project whose group it is.';
comment on column cache_groups.sampled is 'How many of the prompts that are compared exactly have an id that 16 divides.';
comment on column cache_groups.graph is 'Number of the table that holds the group''s graph; null: it has none.';
comment on column cache_groups.graph_deleted is 'Prompts that were deleted since the graph was built, and are still in it.';

alter table cache_entries
    add column test boolean not null default false,
    add column bytes integer not null default 0;
update cache_entries e
set bytes = octet_length(e.response) + 300;

comment on column cache_entries.test is 'Whether a test key asked: such entries live at most a day, and only the latest few of a project are kept.';
comment on column cache_entries.bytes is 'What the entry takes of its project''s cache_bytes.';

alter table cached_vectors
    add column test boolean not null default false,
    add column bytes integer not null generated always as (octet_length(vector) + 150) stored;

comment on column cached_vectors.test is 'As in cache_entries.';
comment on column cached_vectors.bytes is 'What the vector takes of its project''s cache_bytes.';

-- Serves expiry, project by project, and the choice of what goes first when a project keeps too much.
drop index cache_entries_expires_at_idx;
drop index cached_vectors_expires_at_idx;
create index cache_entries_expiry_idx on cache_entries (project_id, test, expires_at);
create index cached_vectors_expiry_idx on cached_vectors (project_id, test, expires_at);

create table cache_sizes (
    project_id bigint not null
        references projects (id) on delete cascade,
    kind text not null
        check (kind in ('answers', 'vectors')),
    test boolean not null,
    entries bigint not null,
    bytes bigint not null,
    primary key (project_id, kind, test)
);

comment on table cache_sizes is 'How much each project keeps, as of the last time that changes were added up.';
comment on column cache_sizes.project_id is 'The project.';
comment on column cache_sizes.kind is 'answers (cache_entries) or vectors (cached_vectors).';
comment on column cache_sizes.test is 'Whether they are those of test keys.';
comment on column cache_sizes.entries is 'How many there are.';
comment on column cache_sizes.bytes is 'How much they take.';

create table cache_size_changes (
    project_id bigint not null,
    kind text not null,
    test boolean not null,
    entries bigint not null,
    bytes bigint not null
);

comment on table cache_size_changes is 'What came and went since cache_sizes was added up: rows are only appended, so that nobody waits for a counter.';
comment on column cache_size_changes.project_id is 'The project; no foreign key: it may be gone by now.';
comment on column cache_size_changes.kind is 'As in cache_sizes.';
comment on column cache_size_changes.test is 'As in cache_sizes.';
comment on column cache_size_changes.entries is 'How many more there are; below zero: fewer.';
comment on column cache_size_changes.bytes is 'How much more they take.';

insert into cache_sizes (project_id, kind, test, entries, bytes)
select e.project_id, 'answers', false, count(*), sum(e.bytes) from cache_entries e group by e.project_id
union all
select v.project_id, 'vectors', false, count(*), sum(v.bytes) from cached_vectors v group by v.project_id;

create function note_cache_shrinkage() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
    insert into cache_size_changes (project_id, kind, test, entries, bytes)
    select g.project_id, tg_argv[0], g.test, -count(*), -sum(g.bytes)
    from gone g
    group by g.project_id, g.test;
    return null;
end;
$$;

comment on function note_cache_shrinkage() is 'Appends to cache_size_changes what a statement deleted.';

-- Functions that store note it themselves: triggers would cost each store a third. Deletes come from everywhere.
create trigger answers_deleted after delete on cache_entries referencing old table as gone
    for each statement execute function note_cache_shrinkage('answers');
create trigger vectors_deleted after delete on cached_vectors referencing old table as gone
    for each statement execute function note_cache_shrinkage('vectors');

-- Their arguments or columns change, which `create or replace` cannot do.
drop function if exists find_answer(bigint, bytea, bytea, bytea, integer, halfvec, double precision, integer);
drop function if exists store_answer(bigint, bytea, text, text, text, text, text, integer, integer, integer, bytea, bytea, text, integer, halfvec);
drop function if exists store_vectors(bigint, bytea, bytea, integer[], integer[], text[], integer);
