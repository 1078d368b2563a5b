/** Makes and drops databases for tests. Neither is cut short: on a busy machine they take as long as they take. */
import postgres from 'postgres'

/** Statements that run on their own, one after another. */
export async function runAsAdmin(adminUrl: string, ...statements: readonly string[]): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice() {}, connection: { statement_timeout: 0 } })
  try {
    for (const statement of statements) await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
}
