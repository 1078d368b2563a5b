/** Starts and stops the processes of a benchmark, and waits until each is ready. */
import type { Subprocess } from 'bun'
import type { LoadOrder, LoadResult } from './load.ts'

const READY_TIME_LIMIT_MS = 30_000

export interface Started {
  process: Subprocess
  /** The first line of its standard output. */
  firstLine: string
}

/**
 * Returns the command of a child process that ends with this process, even if this one is killed. Requires setpriv (Linux); without it, a
 * killed benchmark leaves the child running.
 */
export function killWithParent(command: string[]): string[] {
  return Bun.which('setpriv') === null ? command : ['setpriv', '--pdeathsig', 'KILL', ...command]
}

/** Runs `bun <file>` and waits for its first line. */
export async function startAndRead(
  file: string,
  args: string[] = [],
  environment: Record<string, string> = {},
): Promise<Started> {
  const process_ = Bun.spawn(killWithParent([process.execPath, file, ...args]), {
    env: { ...process.env, ...environment },
    stdout: 'pipe',
    stderr: 'inherit',
    stdin: 'ignore',
  })
  const reader = process_.stdout.getReader()
  let text = ''
  while (!text.includes('\n')) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`${file} ended before it was ready`)
    text += new TextDecoder().decode(value)
  }
  reader.releaseLock()
  return { process: process_, firstLine: text.split('\n')[0] ?? '' }
}

/** Runs the proxy and waits until it is healthy. Its log is discarded or written to a file. */
export async function startProxyProcess(
  environment: Record<string, string>,
  port: number,
  logFile?: string,
): Promise<Subprocess> {
  const child = Bun.spawn(killWithParent([process.execPath, 'src/process/server.ts']), {
    env: { ...process.env, ...environment, PORT: String(port) },
    stdout: logFile ? Bun.file(logFile) : 'ignore',
    stderr: 'inherit',
    stdin: 'ignore',
  })
  const deadline = performance.now() + READY_TIME_LIMIT_MS
  while (performance.now() < deadline && child.exitCode === null) {
    const healthy = await fetch(`http://127.0.0.1:${port}/v1/health`).then(
      response => response.ok,
      () => false,
    )
    if (healthy) return child
    await Bun.sleep(50)
  }
  throw new Error('the proxy did not become healthy')
}

/** Runs the load generator in a separate process. */
export async function runLoadProcess(order: LoadOrder): Promise<LoadResult> {
  const child = Bun.spawn(killWithParent([process.execPath, 'scripts/bench/load.ts']), {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  child.stdin.write(JSON.stringify(order))
  child.stdin.end()
  const printed = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('the load generator failed: see its output above')
  return JSON.parse(printed)
}

export async function stop(child: Subprocess): Promise<void> {
  child.kill('SIGTERM')
  await Promise.race([child.exited, Bun.sleep(8_000)])
  if (child.exitCode === null) child.kill('SIGKILL')
}

const PORTS = { first: 20_000, count: 12_000 }
const MAX_PORTS_TRIED = 100

/** Returns a free port below the ephemeral range, so that no outgoing connection occupies it later. */
export function findFreePort(): number {
  for (let tried = 0; tried < MAX_PORTS_TRIED; tried++) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count)
    try {
      Bun.serve({ port, hostname: '127.0.0.1', fetch: () => new Response() }).stop(true)
      return port
    } catch {
      // The port is in use: try the next one.
    }
  }
  throw new Error('no free port found')
}
