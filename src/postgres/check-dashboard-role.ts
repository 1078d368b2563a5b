/** Grants the role that the dashboard reads as what it reads, where an administrator has created it since; or says what to run. */
import type { Database } from './database.ts'

interface RoleFacts {
  is_there: boolean
  is_usable: boolean
  role: string
  schema: string
}

/** Whether the role may be acted as, and may read: without the schema, its other grants mean nothing. */
const FACTS = `select
  r.oid is not null as is_there,
  coalesce(pg_has_role(session_user, r.oid, case when current_setting('server_version_num')::integer >= 160000 then 'SET' else 'MEMBER' end)
    and has_schema_privilege(r.oid, n.oid, 'usage'), false) as is_usable,
  quote_ident(session_user) as role,
  quote_ident(n.nspname) as schema
from pg_namespace n left join pg_roles r on r.rolname = 'model_proxy_dashboard'
where n.nspname = trim('"' from 'model_proxy')`

/** Null where the dashboard can read. */
export async function findDashboardRoleProblem(database: Database): Promise<string | null> {
  const readFacts = async () => (await database.call<RoleFacts>(FACTS, []))[0]
  if ((await readFacts())?.is_usable) return null
  await database.runScript('select model_proxy.ensure_dashboard_role()')
  const facts = await readFacts()
  if (!facts || facts.is_usable) return null
  const create = facts.is_there ? '' : 'create role model_proxy_dashboard nologin; '
  return `${create}grant model_proxy_dashboard to ${facts.role}; select ${facts.schema}.ensure_dashboard_role();`
}
