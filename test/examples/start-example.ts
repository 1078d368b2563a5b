/** Runs the shell blocks of an example's README, in one shell, beside a proxy with fake providers. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { type ProxyProcess, startProxyProcess } from '../faults/proxy-process.ts'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { blocksOf, ROOT } from '../harness/docs-blocks.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'

export interface ExampleProxy {
  proxy: ProxyProcess
  /** The address without /v1. */
  url: string
  /** A key of the project `acme`. */
  key: string
  /** Runs shell lines in the shell that examples/README.md sets up. Returns the standard output. Throws if a line fails. */
  shell(lines: string, environment?: Record<string, string>): Promise<string>
}

/** The blocks of an example's README that do not start a proxy. */
export function findCommands(folder: string): string[] {
  return blocksOf(`examples/${folder}/README.md`).filter(block => !block.includes('bun run start'))
}

/** Starts a proxy with a database of its own, as the first block of examples/README.md does, and runs the second block. */
export async function startExample(environment: Record<string, string>): Promise<ExampleProxy> {
  const DATA_DIR = createTemporaryDirectory()
  const [PORT, EMBEDDED_PG_PORT] = [String(findFreePort()), String(findFreePort())]
  const own = { DATA_DIR, PORT, EMBEDDED_PG_PORT, METRICS_PORT: '0' }
  // The proxy and the operator's scripts use the encryption key of DATA_DIR.
  const { ENCRYPTION_KEY: _, ...settings } = environment
  const proxy = await startProxyProcess({ ...own, ...settings })
  const adapt = (text: string) =>
    text
      .replaceAll('127.0.0.1:3000', `127.0.0.1:${PORT}`)
      .replaceAll('127.0.0.1:5433', `127.0.0.1:${EMBEDDED_PG_PORT}`)
      .replaceAll('$PWD/data', DATA_DIR)
  const [, setUp = ''] = blocksOf('examples/README.md')
  const [connect = '', create = ''] = adapt(setUp).split(/(?=^npx bun run create-project)/m)

  const run = (script: string, more: Record<string, string> = {}) =>
    runShell(script, { ...bareEnvironment(), ...own, ...more })
  const key = (await run(`${connect}${create}\necho "$PROXY_KEY"`)).trim().split('\n').at(-1) ?? ''
  return {
    proxy,
    url: `http://127.0.0.1:${PORT}`,
    key,
    shell: (lines, more) => retryBusy(() => run(`${connect}\n${adapt(lines)}`, { PROXY_KEY: key, ...more })),
  }
}

/** The embedded database ends a psql statement that keeps requests waiting, which any statement does on a busy machine. */
async function retryBusy(run: () => Promise<string>, attempts = 5): Promise<string> {
  try {
    return await run()
  } catch (error) {
    if (attempts === 1 || !String(error).includes('kept the proxy’s requests waiting')) throw error
    return retryBusy(run, attempts - 1)
  }
}

/** Runs bash in the checkout, with its exact environment. */
export async function runShell(script: string, environment: Record<string, string>): Promise<string> {
  const child = Bun.spawn(['timeout', '100', 'bash', '-euo', 'pipefail', '-c', script], {
    cwd: ROOT,
    env: { ...environment, PATH: withoutShims(environment.PATH ?? '') },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${script}\n${err}\n${out}`)
  return out
}

/** `bun --bun` puts a directory in front of PATH in which `node` is Bun. */
function withoutShims(path: string): string {
  const isShim = (folder: string) => /\/bun-node[^/]*$/.test(folder)
  return path
    .split(':')
    .filter(folder => !isShim(folder))
    .join(':')
}

export const readExample = (path: string) => readFileSync(join(ROOT, 'examples', path), 'utf8')
