/** Checks at the start that a PostgreSQL server, and the role's sessions on it, meet the proxy's requirements. */
import type { Connection } from './connection.ts'
import { findSettingMismatches, REQUIRED_SETTINGS } from './session-settings.ts'
import { addSuffix, type SetupProblem } from './setup-problem.ts'

const MIN_VERSION = 150_000
/** The pool, a script, two connections of operators, and one that is renewed or compared. */
const MIN_CONNECTIONS = 5

interface ServerFacts {
  role: string
  database: string
  version_number: number
  version: string
  encoding: string
  is_standby: boolean
  role_limit: number
  database_limit: number
  is_superuser: boolean
  shadows: boolean
  settings: Record<string, string | null>
}

/** `shadows` is true if other schemas precede pg_catalog in the search path, and so can shadow its names. */
const FACTS = `select
  quote_ident(session_user) as role,
  quote_ident(current_database()) as database,
  current_setting('server_version_num')::integer as version_number,
  current_setting('server_version') as version,
  current_setting('server_encoding') as encoding,
  pg_is_in_recovery() as is_standby,
  (select coalesce(nullif(r.rolconnlimit, -1), 10000) from pg_roles r where r.rolname = session_user)::integer as role_limit,
  (select coalesce(nullif(d.datconnlimit, -1), 10000) from pg_database d where d.datname = current_database())::integer as database_limit,
  (select r.rolsuper from pg_roles r where r.rolname = session_user) as is_superuser,
  coalesce(array_position(current_schemas(true), 'pg_catalog'), 1)
    > case when pg_my_temp_schema() = 0 then 1 else 2 end as shadows,
  (select json_object_agg(name, current_setting(name, true)) from unnest(array[${REQUIRED_SETTINGS.map(name => `'${name}'`).join(', ')}]) as name) as settings`

/** Returns the problems to fix first; empty if the server is usable. Its query runs on every version since 9.6. */
export async function checkServer(connection: Connection): Promise<SetupProblem[]> {
  const [facts] = await connection.run<ServerFacts>(FACTS, [])
  return facts ? [...checkVersion(facts), ...checkLimits(facts), ...checkSettings(facts)] : []
}

function checkVersion({ version, version_number, encoding, database, role }: ServerFacts): SetupProblem[] {
  const problems: SetupProblem[] = []
  if (version_number < MIN_VERSION)
    problems.push({
      cause: `the server is PostgreSQL ${version}; 15 or newer is needed`,
      remedy: 'Upgrade it, or point DATABASE_URL to a newer server.',
    })
  if (encoding !== 'UTF8')
    problems.push({
      cause: `the database ${database} has the encoding ${encoding}, which cannot hold every text; UTF8 is needed`,
      remedy: 'Create another one as a superuser, and name it in DATABASE_URL:',
      commands: [
        `create database ${addSuffix(database, '_utf8')} owner ${role} encoding 'UTF8' lc_collate 'C.UTF-8' lc_ctype 'C.UTF-8' template template0;`,
      ],
    })
  return problems
}

function checkLimits({ role, database, role_limit, database_limit, is_superuser }: ServerFacts): SetupProblem[] {
  const problems: SetupProblem[] = []
  // Connection limits do not apply to superusers.
  if (is_superuser) return problems
  if (role_limit < MIN_CONNECTIONS)
    problems.push({
      cause: `the role ${role} may have ${role_limit} connections; the proxy needs at least ${MIN_CONNECTIONS}`,
      remedy: 'Run as a superuser:',
      commands: [`alter role ${role} connection limit 20;`],
    })
  if (database_limit < MIN_CONNECTIONS)
    problems.push({
      cause: `the database ${database} takes ${database_limit} connections; the proxy needs at least ${MIN_CONNECTIONS}`,
      remedy: 'Run as a superuser:',
      commands: [`alter database ${database} connection limit 20;`],
    })
  return problems
}

/** Checks session settings. The remedy sets them for the role in the database, which overrides all other sources. */
function checkSettings({ role, database, settings, shadows, is_standby }: ServerFacts): SetupProblem[] {
  const remedy = 'Run as a superuser, and make a pooler reopen its connections (PgBouncer: RECONNECT):'
  const alterRole = (name: string, value: string) =>
    `alter role ${role} in database ${database} set ${name} = ${value};`
  const mismatches = findSettingMismatches(settings).filter(({ name }) => !(is_standby && /read_only$/.test(name)))
  const problems: SetupProblem[] = mismatches.map(({ name, value, required }) => ({
    cause: `the setting ${name} is "${value}" in sessions of ${role}; "${required}" is needed`,
    remedy,
    commands: [alterRole(name, name === 'DateStyle' ? required : `'${required}'`)],
  }))
  if (shadows)
    problems.push({
      cause: `the search_path of ${role} names pg_catalog after other schemas, whose functions would shadow PostgreSQL's`,
      remedy,
      commands: [alterRole('search_path', '"$user", public')],
    })
  return problems
}
