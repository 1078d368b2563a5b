/** Runs the real psql, as an operator's shell does. */

export interface PsqlOutcome {
  exitCode: number
  stdout: string
  stderr: string
}

/** The path of psql, null if it is not installed. Debian's wrapper script is avoided, because it is slower. */
export const psqlPath = findNewest('/usr/lib/postgresql/*/bin/psql') ?? Bun.which('psql')

export const bareFlags = ['-qAt', '-v', 'ON_ERROR_STOP=1']

/** Runs psql on a database without the user's start-up file. Waits for its end, at most 20 seconds. */
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
