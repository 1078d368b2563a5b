/** The proxy as a separate process, started as an operator starts it. */
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { endAfterFile } from '../harness/child-processes.ts'
import { get } from '../harness/client.ts'
import { killWithTests } from './servers.ts'

const SERVER = fileURLToPath(new URL('../../src/process/server.ts', import.meta.url))
const READY_WITHIN_MS = 120_000
const ENDED_WITHIN_MS = 120_000

export interface ProxyProcess {
  /** Ends in /v1. */
  baseUrl: string
  port: number
  /** The process id; with WORKERS, of the supervisor. */
  pid: number
  /** Everything that the process has printed so far. */
  output(): string
  signal(signal: NodeJS.Signals): void
  /** Resolves to the exit code. Rejects if the process still runs after this time; the default is far longer than it takes. */
  ended(withinMs?: number): Promise<number>
  /** Kills the process, if it still runs. */
  stop(): Promise<unknown>
}

/** Resolves once the health endpoint responds. The process ends at the latest with the tests of its file. */
export async function startProxyProcess(
  environment: Record<string, string>,
  { server = SERVER, readyWithinMs = READY_WITHIN_MS }: { server?: string; readyWithinMs?: number } = {},
): Promise<ProxyProcess> {
  const port = Number(environment.PORT ?? findFreePort())
  const proxy = spawnProxy({ PORT: String(port), ...environment }, [], server)
  const baseUrl = `http://127.0.0.1:${port}/v1`
  const deadlineMs = performance.now() + readyWithinMs
  for (;;) {
    const health = await get({ baseUrl }, '/health').catch(() => null)
    if (health) break
    if (proxy.hasEnded() || performance.now() > deadlineMs)
      throw new Error(`The proxy did not start:\n${proxy.output()}`)
    await Bun.sleep(20)
  }
  return { ...proxy, baseUrl, port }
}

/** Starts the process without waiting for health, for starts that must fail. `server` is another release, or a compiled program. */
export function spawnProxy(environment: Record<string, string>, args: readonly string[] = [], server = SERVER) {
  const child = Bun.spawn(killWithTests([...(server.endsWith('.ts') ? [process.execPath] : []), server, ...args]), {
    env: { ...bareEnvironment(), LOG_LEVEL: 'info', EMBEDDER: 'builtin', ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let output = ''
  const append = (text: string) => {
    output += text
  }
  const reading = [readAll(child.stdout, append), readAll(child.stderr, append)]
  endAfterFile(child)
  return {
    pid: child.pid,
    output: () => output,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    signal: (signal: NodeJS.Signals) => child.kill(signal),
    async ended(withinMs = ENDED_WITHIN_MS): Promise<number> {
      const code = await Promise.race([child.exited, Bun.sleep(withinMs)])
      if (code === undefined) throw new Error(`The proxy still runs after ${withinMs} ms:\n${output}`)
      // A remaining worker would keep the pipes open.
      await Promise.race([Promise.all(reading), Bun.sleep(1_000)])
      return code
    },
    stop() {
      child.kill('SIGKILL')
      return child.exited
    },
  }
}

async function readAll(stream: ReadableStream<Uint8Array>, append: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  for await (const bytes of stream) append(decoder.decode(bytes, { stream: true }))
}
