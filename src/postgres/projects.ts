/** Calls create_project() and issue_key(): the same functions that operators' scripts use. */
import type { Database } from './database.ts'
import { bigint, defineStatement, readOne, runStatement, text } from './statement.ts'

const CREATE_PROJECT = defineStatement('select create_project($1::text, $2::text) as id', { id: bigint })
const ISSUE_KEY = defineStatement('select issue_key($1::text, $2::text, $3::text) as key', { key: text() })

export async function listProjectNames(database: Database): Promise<string[]> {
  const rows = await database.queries.selectFrom('projects').select('name').orderBy('id').execute()
  return rows.map(row => row.name)
}

export async function createProject(database: Database, name: string, plan: string): Promise<void> {
  await runStatement(database, CREATE_PROJECT, [name, plan])
}

/** Returns the key, which is not stored in clear. */
export async function issueKey(
  database: Database,
  project: string,
  type: 'project' | 'test',
  name: string,
): Promise<string> {
  const { key } = await readOne(database, ISSUE_KEY, [project, type, name])
  return key
}
