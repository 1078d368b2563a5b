/**
 * Checks the rights of the proxy's role before the first change of a database: on the schema, its objects, and the extension; and those of the
 * dashboard's role.
 */
import type { Database } from './database.ts'
import { addSuffix, type SetupProblem, throwSetupProblems } from './setup-problem.ts'

/** The first version of pgvector with distances between bit vectors, which the cache's lists use. */
const MIN_VECTOR_VERSION = '0.7.0'

interface RightsFacts {
  role: string
  database: string
  version: number
  schema: string
  has_schema: boolean
  may_create: boolean
  may_use: boolean
  is_member: boolean
  owner: string | null
  strangers: string | null
  has_ledger: boolean
  relations: number
  vector: string | null
  vector_schema: string | null
  may_use_vector: boolean
  offered: string | null
  may_make_vector: boolean
}

/** If another schema is configured, the literal 'model_proxy' contains its quoted name. */
const FACTS = `with s as (
  select n.oid, n.nspowner from pg_namespace n where n.nspname = trim('"' from 'model_proxy')
), e as (
  select x.extversion, n.oid, n.nspname from pg_extension x join pg_namespace n on n.oid = x.extnamespace where x.extname = 'vector'
)
select
  quote_ident(current_user) as role,
  quote_ident(current_database()) as database,
  current_setting('server_version_num')::integer / 10000 as version,
  quote_ident(trim('"' from 'model_proxy')) as schema,
  exists (select from s) as has_schema,
  has_database_privilege(current_database(), 'create') as may_create,
  (select has_schema_privilege(s.oid, 'usage') and has_schema_privilege(s.oid, 'create') from s) is true as may_use,
  (select pg_has_role(s.nspowner, 'member') from s) is true as is_member,
  (select quote_ident(pg_get_userbyid(s.nspowner)) from s) as owner,
  (select string_agg(distinct quote_ident(pg_get_userbyid(o.owner)), ', ') from (
    select c.relowner as owner from pg_class c, s where c.relnamespace = s.oid and c.relkind in ('r', 'p', 'v', 'S')
    union all select p.proowner from pg_proc p, s where p.pronamespace = s.oid
      and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
  ) o where not pg_has_role(o.owner, 'usage')) as strangers,
  (select count(*) from pg_class c join s on c.relnamespace = s.oid where c.relkind in ('r', 'p', 'v', 'm', 'f'))::integer as relations,
  exists (
    select from s join pg_class c on c.relnamespace = s.oid and c.relname = 'schema_migrations'
    join pg_description d on d.objoid = c.oid and d.classoid = 'pg_class'::regclass and d.objsubid = 0
    where d.description = 'Ledger of what of sql/ this database has seen.'
  ) as has_ledger,
  (select e.extversion from e) as vector,
  (select quote_ident(e.nspname) from e) as vector_schema,
  (select has_schema_privilege(e.oid, 'usage') from e) is true as may_use_vector,
  (select a.default_version from pg_available_extensions a where a.name = 'vector') as offered,
  (select r.rolsuper from pg_roles r where r.rolname = current_user) or (
    has_database_privilege(current_database(), 'create')
    and exists (select from pg_available_extension_versions v where v.name = 'vector' and v.trusted)
  ) as may_make_vector`

/** Returns `check`, to run before the first change, and `explain`, which runs the check if a read fails. The check runs once. */
export function createRightsCheck(database: Database) {
  let isChecked = database.backend === 'embedded'
  const check = async () => {
    if (!isChecked) await requireRights(database)
    isChecked = true
  }
  const explain = <T>(read: Promise<T>) =>
    read.catch(async (error): Promise<T> => {
      await check()
      throw error
    })
  return { check, explain }
}

/** Throws DatabaseSetupError with the statements that an administrator must run first. */
async function requireRights(database: Database): Promise<void> {
  const [facts] = await database.call<RightsFacts>(FACTS, [])
  if (facts) throwSetupProblems([...checkSchema(facts), ...checkExtension(facts)])
}

function checkSchema(facts: RightsFacts): SetupProblem[] {
  const { role, database, schema, has_schema, may_create, may_use, is_member, owner, strangers } = facts
  const remedy = `Run as a superuser in the database ${database}:`
  const create = `create schema ${schema} authorization ${role};`
  if (!has_schema)
    return may_create
      ? []
      : [
          {
            cause: `the role ${role} may not create the schema ${schema} in the database ${database}`,
            remedy,
            commands: [create],
          },
        ]
  if (may_use && facts.relations > 0 && !facts.has_ledger)
    return [
      {
        cause: `the schema ${schema} holds tables that Model Proxy did not create, or has lost the ledger of migrations`,
        remedy: `Set DATABASE_SCHEMA to another name, or move them away. ${remedy}`,
        commands: [
          `alter schema ${schema} rename to ${addSuffix(schema, '_before')};`,
          ...(may_create ? [] : [create]),
        ],
      },
    ]
  if (may_use && strangers === null) return []
  if (is_member && strangers === owner)
    return [
      {
        cause: `the role ${role} does not inherit the rights of ${owner}, which owns the schema ${schema}`,
        remedy,
        commands: [facts.version < 16 ? `alter role ${role} inherit;` : `grant ${owner} to ${role} with inherit true;`],
      },
    ]
  if (strangers === null)
    return [
      {
        cause: `the role ${role} may not use the schema ${schema}, which ${owner} owns`,
        remedy,
        commands: [`grant usage, create on schema ${schema} to ${role};`],
      },
    ]
  return [
    {
      cause: `the schema ${schema} holds tables or functions of ${strangers}, which the role ${role} may not change`,
      remedy,
      commands: [`alter schema ${schema} owner to ${role};`, changeOwners(schema, role)],
    },
  ]
}

/** Returns a statement that gives all objects of the schema to the role. It skips sequences of columns and objects of extensions. */
function changeOwners(schema: string, role: string): string {
  const place = `'${schema.replaceAll("'", "''")}'::regnamespace`
  const isIndependent = (catalog: string, type: string) =>
    `not exists (select from pg_depend d where d.classid = '${catalog}'::regclass and d.objid = o.oid and d.deptype ${type})`
  const owner = (what: string) => `format('alter ${what} %s owner to %s', `
  return [
    `do $$ declare l text; begin for l in`,
    `select ${owner('table')}o.oid::regclass, '${role}') from pg_class o where o.relnamespace = ${place} and o.relkind in ('r', 'p', 'v', 'S') and ${isIndependent('pg_class', "in ('a', 'i', 'e')")}`,
    `union all select ${owner('routine')}o.oid::regprocedure, '${role}') from pg_proc o where o.pronamespace = ${place} and ${isIndependent('pg_proc', "= 'e'")}`,
    `union all select ${owner('type')}o.oid::regtype, '${role}') from pg_type o where o.typnamespace = ${place} and ${isIndependent('pg_type', "in ('i', 'e')")}`,
    `loop execute l; end loop; end $$;`,
  ].join(' ')
}

function checkExtension({ role, database, version, ...facts }: RightsFacts): SetupProblem[] {
  const { vector, vector_schema, may_use_vector, offered, may_make_vector } = facts
  const remedy = `Run as a superuser in the database ${database}:`
  const install = `Install pgvector ${MIN_VECTOR_VERSION} or newer on the server (Debian: apt install postgresql-${version}-pgvector), or point DATABASE_URL to a server that has it.`
  if (vector === null) {
    if (offered === null)
      return [{ cause: 'the server does not have the extension vector (pgvector)', remedy: install }]
    if (isOlder(offered))
      return [
        { cause: `the server has pgvector ${offered}; ${MIN_VECTOR_VERSION} or newer is needed`, remedy: install },
      ]
    if (may_make_vector) return []
    return [
      { cause: `the role ${role} may not create the extension vector`, remedy, commands: ['create extension vector;'] },
    ]
  }
  const problems: SetupProblem[] = []
  const cause = `the database ${database} has pgvector ${vector}; ${MIN_VECTOR_VERSION} or newer is needed`
  if (isOlder(vector))
    problems.push(
      offered === null || isOlder(offered)
        ? { cause, remedy: install }
        : { cause, remedy, commands: ['alter extension vector update;'] },
    )
  if (!may_use_vector)
    problems.push({
      cause: `the role ${role} may not use the schema ${vector_schema}, where the extension vector is`,
      remedy,
      commands: [`grant usage on schema ${vector_schema} to ${role};`],
    })
  return problems
}

function isOlder(version: string): boolean {
  return Bun.semver.order(version, MIN_VECTOR_VERSION) < 0
}

interface RoleFacts {
  is_there: boolean
  is_usable: boolean
  role: string
  schema: string
}

/** `is_usable` is true if the proxy may act as the role, and the role may use the schema. Its other grants have no effect without that. */
const ROLE_FACTS = `select
  r.oid is not null as is_there,
  coalesce(pg_has_role(session_user, r.oid, case when current_setting('server_version_num')::integer >= 160000 then 'SET' else 'MEMBER' end)
    and has_schema_privilege(r.oid, n.oid, 'usage'), false) as is_usable,
  quote_ident(session_user) as role,
  quote_ident(n.nspname) as schema
from pg_namespace n left join pg_roles r on r.rolname = 'model_proxy_dashboard'
where n.nspname = trim('"' from 'model_proxy')`

/**
 * Checks the role under which the dashboard reads, and grants its rights if the role exists. Returns the SQL that a superuser must run; null if
 * the dashboard can read.
 */
export async function findDashboardRoleProblem(database: Database): Promise<string | null> {
  const readFacts = async () => (await database.call<RoleFacts>(ROLE_FACTS, []))[0]
  if ((await readFacts())?.is_usable) return null
  await database.runScript('select model_proxy.ensure_dashboard_role()')
  const facts = await readFacts()
  if (!facts || facts.is_usable) return null
  const create = facts.is_there ? '' : 'create role model_proxy_dashboard nologin; '
  return `${create}grant model_proxy_dashboard to ${facts.role}; select ${facts.schema}.ensure_dashboard_role();`
}
