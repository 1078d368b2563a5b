/** Runs the real psql, as an operator's shell would. */

export interface PsqlOutcome {
  exitCode: number
  stdout: string
  stderr: string
}

/** Whether psql is installed; tests that need it say so where it is not. Debian's own is a script that takes longer to find it. */
export const psqlPath = findNewest('/usr/lib/postgresql/*/bin/psql') ?? Bun.which('psql')

export const bareFlags = ['-qAt', '-v', 'ON_ERROR_STOP=1']

/** Runs psql on a database with no start-up file of the user's, and waits for its end, 20 seconds at most. */
export async function runPsql(url: string, args: readonly string[], input = ''): Promise<PsqlOutcome> {
  const running = Bun.spawn([psqlPath ?? 'psql', url, '-X', ...args], {
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 120_000,
    env: { ...process.env, PGCONNECT_TIMEOUT: '10' },
  })
  const [stdout, stderr] = await Promise.all([new Response(running.stdout).text(), new Response(running.stderr).text()])
  return { exitCode: await running.exited, stdout, stderr }
}

function findNewest(pattern: string): string | undefined {
  return [...new Bun.Glob(pattern).scanSync('/')].sort(new Intl.Collator('en', { numeric: true }).compare).at(-1)
}
