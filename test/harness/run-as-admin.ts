/** Creates and drops databases for tests. The statements have no timeout, because both can be slow on a busy machine. */
import postgres from 'postgres'

/** Runs the statements in order, each outside of a transaction. */
export async function runAsAdmin(adminUrl: string, ...statements: readonly string[]): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice() {}, connection: { statement_timeout: 0 } })
  try {
    for (const statement of statements) await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
}
