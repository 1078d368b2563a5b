/** Calls create_project() and issue_key(): the same functions that operators' scripts use. */
import { sql } from 'kysely'
import type { Database } from './database.ts'

export async function listProjectNames(database: Database): Promise<string[]> {
  const rows = await database.queries.selectFrom('projects').select('name').orderBy('id').execute()
  return rows.map(row => row.name)
}

export async function createProject(database: Database, name: string, plan: string): Promise<void> {
  await sql`select create_project(${name}::text, ${plan}::text)`.execute(database.queries)
}

/** The key: the only time it is seen. */
export async function issueKey(
  database: Database,
  project: string,
  type: 'project' | 'test',
  name: string,
): Promise<string> {
  const { rows } = await sql<{
    key: string
  }>`select issue_key(${project}::text, ${type}::text, ${name}::text) as key`.execute(database.queries)
  const key = rows[0]?.key
  if (key === undefined) throw new Error('issue_key() returned nothing')
  return key
}
