/** A start after an incomplete restore or manual changes: it repairs the schema, or names what it cannot repair. */
import { expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { describeSchema } from '../../src/postgres/describe-schema.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { describeBackends } from '../harness/backends.ts'
import { draw } from '../harness/depth.ts'

/** The state after `pg_restore --no-policies`, without its last section. */
const DROP_POLICIES = `
do $$
declare
    one record;
begin
    for one in select polname, polrelid::regclass as relation from pg_policy where polrelid::regclass::text !~ '\\.' loop
        execute format('drop policy %I on %s', one.polname, one.relation);
    end loop;
    for one in select oid::regclass as relation from pg_class where relnamespace = 'model_proxy'::regnamespace and relrowsecurity loop
        execute format('alter table %s disable row level security', one.relation);
    end loop;
end $$;`
const DROP_CONSTRAINTS = `
do $$
declare
    one record;
begin
    for one in
        select conname, conrelid::regclass as relation
        from pg_constraint
        where connamespace = 'model_proxy'::regnamespace and contype in ('p', 'u', 'f') and conparentid = 0 and conrelid <> 0
        order by contype <> 'f'
    loop
        execute format('alter table %s drop constraint %I cascade', one.relation, one.conname);
    end loop;
end $$;`
const DROP_INDEXES = `
do $$
declare
    one regclass;
begin
    for one in
        select i.indexrelid
        from pg_index i
        join pg_class c on c.oid = i.indexrelid and c.relnamespace = 'model_proxy'::regnamespace and not c.relispartition
        where not exists (select from pg_constraint k where k.conindid = i.indexrelid)
    loop
        execute format('drop index %s', one);
    end loop;
end $$;`

/** Faults that are repaired, in any combination. */
const REPAIRED: Record<string, string> = {
  'row security and all policies': DROP_POLICIES,
  'all keys and foreign keys': DROP_CONSTRAINTS,
  'all indexes': DROP_INDEXES,
  'the last section of a dump': `${DROP_POLICIES}${DROP_CONSTRAINTS}${DROP_INDEXES}drop trigger projects_deleted on projects;`,
  'a policy that shows all':
    'drop policy members_see on usage_records; create policy members_see on usage_records using (true);',
  'a policy for other roles': 'alter policy members_see on api_keys to model_proxy_dashboard;',
  'row security off': 'alter table usage_records disable row level security;',
  'row security of the owner':
    'alter table projects force row level security; alter table models force row level security;',
  grants: 'revoke select on usage_records, projects from model_proxy_dashboard;',
  'a right to hashes of passwords': 'grant select (password_hash) on users to model_proxy_dashboard;',
  'a right to write': 'grant insert on projects to model_proxy_dashboard;',
  'an index with other columns': 'drop index api_keys_prefix_idx; create index api_keys_prefix_idx on api_keys (name);',
  'an index that is not valid': `update pg_index set indisvalid = false where indexrelid = 'api_keys_prefix_idx'::regclass;`,
  'a constraint that is not validated': `alter table admin_keys drop constraint admin_keys_name_check;
    alter table admin_keys add constraint admin_keys_name_check check (name ~ '^[^[:cntrl:]]{1,100}$') not valid;`,
  'a foreign key that deletes nothing': `alter table api_keys drop constraint api_keys_project_id_fkey;
    alter table api_keys add constraint api_keys_project_id_fkey foreign key (project_id) references projects (id);`,
  'triggers that are disabled':
    'alter table projects disable trigger user; alter table cache_entries disable trigger answers_deleted;',
  'foreign keys that are disabled, as by --disable-triggers': 'alter table api_keys disable trigger all;',
  'a trigger for other events': `drop trigger settings_checked on projects;
    create trigger settings_checked before insert on projects for each row execute function check_settings();`,
  'a default, and not null': 'alter table api_keys alter created_at drop default, alter name drop not null;',
  'an identity': 'alter table api_keys alter id drop identity;',
  'a function with another body': `create or replace function is_administrator() returns boolean language sql as 'select true';`,
  'a function with other settings':
    'alter function visible_projects() security invoker; alter function authenticate_session reset all;',
  'a function with another result': `drop function current_project_role(bigint) cascade;
    create function current_project_role(bigint) returns bigint language sql as 'select 1::bigint';`,
  'a function': 'drop function visible_projects() cascade;',
  'a view with the rights of its owner': 'alter view project_api_keys reset (security_invoker);',
  'a view with other rows':
    'create or replace view logins as select id as user_id, true as can_log_in, now() as invited_until, now() as last_seen_at from users;',
  'a view': 'drop view usage_hourly cascade;',
  comments: `comment on column cache_entries.expires_at is null; comment on table projects is 'another'; comment on view logins is null;`,
}

interface Refused {
  fault: string
  /** Reverts the fault, so that a later start repairs the rest. */
  undo: string
  message: RegExp
}

const REFUSED: Record<string, Refused> = {
  'a column': {
    fault: 'alter table budgets rename enforced to enforced_before',
    undo: 'alter table budgets rename enforced_before to enforced',
    message: /\n {2}table budgets: column enforced is missing\n.*partially restored.*docs\/production\.md/,
  },
  'a column of another type': {
    fault: 'alter table applied_batches alter applied_at type timestamp',
    undo: 'alter table applied_batches alter applied_at type timestamptz',
    message:
      /table applied_batches: column applied_at is "timestamp without .*", not "timestamp with time zone not null/,
  },
  tables: {
    fault: 'alter table judge_spending rename to one_before; alter table applied_batches rename to other_before',
    undo: 'alter table one_before rename to judge_spending; alter table other_before rename to applied_batches',
    message: /\n {2}table applied_batches is missing\n {2}table judge_spending is missing\n/,
  },
  'the check of a type': {
    fault: 'alter domain cache_match_kind drop constraint cache_match_kind_check',
    undo: `alter domain cache_match_kind add constraint cache_match_kind_check check (value in ('exact', 'normalized', 'similar'))`,
    message: /domain cache_match_kind: type is "text", not "text CHECK/,
  },
  'a key of rows that have it twice, and a check of rows that violate it': {
    fault: `alter table models drop constraint models_pkey cascade; alter table models drop constraint models_kind_check;
      insert into models select (jsonb_populate_record(m, '{"source": "twice"}')).* from models m limit 1;
      update models set kind = 'another' where model = (select max(model) from models where source <> 'twice');`,
    undo: `delete from models where source = 'twice'; update models set kind = 'chat' where kind = 'another';`,
    message:
      /\n {2}table models: constraint models_kind_check is missing\. Run: set search_path = \S+; alter table models add constraint models_kind_check CHECK .*violated by some row\)\n {2}table models: constraint models_pkey is missing\. Run: .*PRIMARY KEY \(provider, model\); \(could not create unique index/,
  },
  'rows of the ledger': {
    fault: 'create table ledger_before as select * from schema_migrations; delete from schema_migrations',
    undo: 'insert into schema_migrations select * from ledger_before; drop table ledger_before',
    message: /no ledger of migrations: its rows were not restored.*docs\/production\.md/,
  },
  'rows, where keys are missing and sequences were not set': {
    fault: `alter table stored_objects drop constraint stored_objects_pkey cascade;
      select setval(pg_get_serial_sequence('projects', 'id'), 1, false);`,
    undo: `select setval(pg_get_serial_sequence('projects', 'id'), max(id)) from projects;`,
    message: /Table projects has rows, and the sequence of its ids was not restored.*docs\/production\.md/,
  },
}

/** An operator's additions to the proxy's schema and tables. */
const ADDED = `
create table notes (id bigint generated always as identity primary key, project_id bigint references projects (id));
create index notes_idx on usage_records (model);
create view shown as select * from usage_records;
create function counted() returns bigint language sql as 'select count(*) from projects';
alter table api_keys add column owner text;
alter table api_keys add constraint api_keys_owner_check check (owner <> '');
create policy reporting on usage_records for select to pg_read_all_data using (true);
create trigger noted after insert on projects for each statement execute function record_deleted_entries();`
const REMOVE_ADDED = `
drop trigger noted on projects; drop policy reporting on usage_records; alter table api_keys drop column owner;
drop function counted; drop view shown; drop index notes_idx; drop table notes;`

describeBackends('a start', backend => {
  async function open(): Promise<Database> {
    const { database } = await backend.open()
    await callFunction(database, 'create_project', { project: 'acme', plan: 'free' })
    return database
  }

  test.each(draw(Object.entries(REPAIRED)))('repairs %s', async (_, fault) => {
    const database = await open()
    await migrate(database)
    const before = await describeSchema(database)
    await database.runScript(fault)
    expect(await describeSchema(database)).not.toEqual(before)
    expect((await migrate(database)).repaired).not.toEqual([])
    expect(await describeSchema(database)).toEqual(before)
    expect(await migrate(database)).toEqual({ applied: [], isOlderRelease: false, repaired: [] })
  })

  test.each(draw(Object.entries(REFUSED)))('rejects a database without %s', async (_, { fault, undo, message }) => {
    const database = await open()
    await migrate(database)
    const before = await describeSchema(database)
    await database.runScript(fault)
    await expect(migrate(database)).rejects.toThrow(message)
    await expect(migrate(database)).rejects.toThrow(message)
    await database.runScript(undo)
    await migrate(database)
    expect(await describeSchema(database)).toEqual(before)
  })

  test('leaves what operators have added', async () => {
    const database = await open()
    await migrate(database)
    await database.runScript(ADDED)
    const withAdded = await describeSchema(database)
    expect(await migrate(database)).toEqual({ applied: [], isOlderRelease: false, repaired: [] })
    await database.runScript('alter table api_keys disable row level security')
    expect((await migrate(database)).repaired).toEqual(['table api_keys: row security'])
    expect(await describeSchema(database)).toEqual(withAdded)
    await database.runScript(REMOVE_ADDED)
  })

  test('shows nothing of other projects after row security was lost', async () => {
    const database = await open()
    await database.runScript(DROP_POLICIES)
    const count = () =>
      database.call<{ rows: { count: number } }>(
        `select run_as_actor('{"name": "ada", "user_id": "1"}', true, 'select count(*) from projects', null) as rows`,
        [],
      )
    expect(await count()).toEqual([{ rows: { count: 1 } }])
    await migrate(database)
    expect(await count()).toEqual([{ rows: { count: 0 } }])
  })

  test('compares only a fingerprint when nothing has changed', async () => {
    const database = await open()
    await migrate(database)
    const texts: string[] = []
    const watched: Database = Object.create(database, {
      call: {
        value: (text: string, values: unknown[]) => {
          texts.push(text)
          return database.call(text, values)
        },
      },
    })
    await callFunction(database, 'maintain_usage_partitions', {})
    await migrate(watched)
    expect(texts.filter(text => text.includes('pg_get_constraintdef'))).toEqual([])
    await database.runScript(`comment on table projects is 'another'`)
    await migrate(watched)
    expect(texts.filter(text => text.includes('pg_get_constraintdef'))).not.toEqual([])
  })
})
