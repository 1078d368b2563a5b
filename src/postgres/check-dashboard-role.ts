/** Checks the role under which the dashboard reads. Grants its rights if the role exists, or returns the SQL that an administrator must run. */
import type { Database } from './database.ts'

interface RoleFacts {
  is_there: boolean
  is_usable: boolean
  role: string
  schema: string
}

/** `is_usable` is true if the proxy may act as the role, and the role may use the schema. Its other grants have no effect without that. */
const FACTS = `select
  r.oid is not null as is_there,
  coalesce(pg_has_role(session_user, r.oid, case when current_setting('server_version_num')::integer >= 160000 then 'SET' else 'MEMBER' end)
    and has_schema_privilege(r.oid, n.oid, 'usage'), false) as is_usable,
  quote_ident(session_user) as role,
  quote_ident(n.nspname) as schema
from pg_namespace n left join pg_roles r on r.rolname = 'model_proxy_dashboard'
where n.nspname = trim('"' from 'model_proxy')`

/** Returns the SQL to run as a superuser; null if the dashboard can read. */
export async function findDashboardRoleProblem(database: Database): Promise<string | null> {
  const readFacts = async () => (await database.call<RoleFacts>(FACTS, []))[0]
  if ((await readFacts())?.is_usable) return null
  await database.runScript('select model_proxy.ensure_dashboard_role()')
  const facts = await readFacts()
  if (!facts || facts.is_usable) return null
  const create = facts.is_there ? '' : 'create role model_proxy_dashboard nologin; '
  return `${create}grant model_proxy_dashboard to ${facts.role}; select ${facts.schema}.ensure_dashboard_role();`
}
