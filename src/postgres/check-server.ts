/** Checks, before anything is served, that a PostgreSQL and the role's session on it are as the proxy needs them. */
import type { Driver } from './driver.ts'
import { findSettingMismatches, REQUIRED_SETTINGS } from './session-settings.ts'
import type { SetupProblem } from './setup-problem.ts'

const LEAST_VERSION = 150_000
/** A pool, a script, operators' two, and one that is renewed or compared. */
const LEAST_CONNECTIONS = 5

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

/** `shadows`: whether names of PostgreSQL's own are looked for elsewhere first. */
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

/** What must be changed first; empty when the server will do. Asks nothing that a version since 9.6 does not know. */
export async function checkServer({ sql }: Driver): Promise<SetupProblem[]> {
  const [facts] = await sql.unsafe<ServerFacts[]>(FACTS)
  return facts ? [...checkVersion(facts), ...checkLimits(facts), ...checkSettings(facts)] : []
}

function checkVersion({ version, version_number, encoding, database, role }: ServerFacts): SetupProblem[] {
  const refusals: SetupProblem[] = []
  if (version_number < LEAST_VERSION)
    refusals.push({
      cause: `the server is PostgreSQL ${version}; 15 or newer is needed`,
      remedy: 'Upgrade it, or lead DATABASE_URL to a newer one.',
    })
  if (encoding !== 'UTF8')
    refusals.push({
      cause: `the database ${database} has the encoding ${encoding}, which cannot hold every text; UTF8 is needed`,
      remedy: 'Create another one as a superuser, and name it in DATABASE_URL:',
      commands: [
        `create database ${besides(database)} owner ${role} encoding 'UTF8' lc_collate 'C.UTF-8' lc_ctype 'C.UTF-8' template template0;`,
      ],
    })
  return refusals
}

/** The name with a suffix, quoted as it was. */
function besides(name: string): string {
  return name.endsWith('"') ? `${name.slice(0, -1)}_utf8"` : `${name}_utf8`
}

function checkLimits({ role, database, role_limit, database_limit, is_superuser }: ServerFacts): SetupProblem[] {
  const refusals: SetupProblem[] = []
  // No limit holds for a superuser.
  if (is_superuser) return refusals
  if (role_limit < LEAST_CONNECTIONS)
    refusals.push({
      cause: `the role ${role} may have ${role_limit} connections; the proxy needs ${LEAST_CONNECTIONS} or more`,
      remedy: 'Run as a superuser:',
      commands: [`alter role ${role} connection limit 20;`],
    })
  if (database_limit < LEAST_CONNECTIONS)
    refusals.push({
      cause: `the database ${database} takes ${database_limit} connections; the proxy needs ${LEAST_CONNECTIONS} or more`,
      remedy: 'Run as a superuser:',
      commands: [`alter database ${database} connection limit 20;`],
    })
  return refusals
}

/** A setting of a role in a database goes before any other, so one line is right wherever the value comes from. */
function checkSettings({ role, database, settings, shadows, is_standby }: ServerFacts): SetupProblem[] {
  const remedy = 'Run as a superuser (and let a pooler open its connections anew; PgBouncer: RECONNECT):'
  const line = (name: string, value: string) => `alter role ${role} in database ${database} set ${name} = ${value};`
  const wrong = findSettingMismatches(settings).filter(({ name }) => !(is_standby && /read_only$/.test(name)))
  const refusals: SetupProblem[] = wrong.map(({ name, value, required }) => ({
    cause: `the setting ${name} is "${value}" in sessions of ${role}; "${required}" is needed`,
    remedy,
    commands: [line(name, name === 'DateStyle' ? required : `'${required}'`)],
  }))
  if (shadows)
    refusals.push({
      cause: `the search_path of ${role} names pg_catalog after other schemas, whose functions would take the place of PostgreSQL's`,
      remedy,
      commands: [line('search_path', '"$user", public')],
    })
  return refusals
}
