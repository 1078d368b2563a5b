/** Creates projects and keys in the database of proxies, and reads the proxies' counters and records. */

import { sql } from 'kysely'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { queriesOf } from '../harness/queries.ts'

export interface Account {
  project: string
  plan: string
  key: string
}

export interface Accounts {
  /** Creates a project on its own plan with these limits. Returns one key of it. Test keys have the same limits. */
  create(limits?: { type?: 'project' | 'test'; perMinute?: number; perMonth?: number }): Promise<Account>
  /** Creates a project on an existing plan. Returns one key of it. */
  createOn(plan: string, type: 'project' | 'test'): Promise<Account>
  /** Returns the project's requests in this month, of all its keys. */
  countRequests(account: Account): Promise<number>
  /** Returns the number of the project's usage records by status. */
  countRecords(account: Account): Promise<Record<string, number>>
  run(text: string): Promise<void>
}

const UNLIMITED = 1_000_000_000

/** The database must be migrated. */
export function openAccounts(database: Database): Accounts {
  async function createOn(plan: string, type: 'project' | 'test'): Promise<Account> {
    const project = `p-${crypto.randomUUID()}`
    await callFunction(database, 'create_project', { project, plan })
    return { project, plan, key: await callFunction(database, 'issue_key', { project, key_type: type, key_name: 'k' }) }
  }

  return {
    async create({ type = 'test', perMinute = UNLIMITED, perMonth = UNLIMITED } = {}) {
      const plan = `plan-${crypto.randomUUID()}`
      await database.runScript(
        `insert into model_proxy.plans values ('${plan}', ${perMinute}, ${UNLIMITED}, ${perMonth}, ${perMinute}, ${perMonth})`,
      )
      return createOn(plan, type)
    },
    createOn,
    async countRequests({ project }) {
      const { rows } = await sql<{ requests: number }>`
        select coalesce(sum(c.requests), 0)::integer as requests
        from model_proxy.monthly_counters c join model_proxy.projects p on p.id = c.project_id
        where p.name = ${project}::text`.execute(queriesOf(database))
      return rows[0]?.requests ?? 0
    },
    async countRecords({ project }) {
      const { rows } = await sql<{ status: number; records: number }>`
        select u.status, count(*)::integer as records
        from model_proxy.usage_records u join model_proxy.projects p on p.id = u.project_id
        where p.name = ${project}::text
        group by u.status`.execute(queriesOf(database))
      return Object.fromEntries(rows.map(row => [String(row.status), row.records]))
    },
    run: text => database.runScript(text),
  }
}
