/** Connections without requests, on a process with a low limit of descriptors. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Subprocess } from 'bun'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findFreePort, startAndRead } from '../../scripts/bench/processes.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { killWithTests } from './servers.ts'

const SERVER = fileURLToPath(new URL('../../src/process/server.ts', import.meta.url))
const DESCRIPTORS = 256
const CONNECTIONS = 1_000
const SILENT = 50
const IDLE_CLIENTS = fileURLToPath(new URL('./idle-clients.ts', import.meta.url))

let dataDir: string
let proxy: Subprocess
let port: number
let idleClients: Subprocess | undefined

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'model-proxy-connections-'))
  port = findFreePort()
  const command = ['sh', '-c', `ulimit -n ${DESCRIPTORS}; exec ${process.execPath} ${SERVER}`]
  proxy = Bun.spawn(killWithTests(command), {
    env: {
      ...process.env,
      DATABASE_URL: '',
      REDIS_URL: '',
      DATA_DIR: dataDir,
      EMBEDDED_PG_PORT: '0',
      PORT: String(port),
    },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await waitUntil('health responds', async () => (await health()) === 200)
})
afterAll(async () => {
  idleClients?.kill('SIGKILL')
  proxy.kill('SIGKILL')
  await proxy.exited
  await rm(dataDir, { recursive: true, force: true })
})

/** Returns the status, or the error. */
async function health(): Promise<number | string> {
  const options = { headers: { connection: 'close' }, signal: AbortSignal.timeout(1_000) }
  return fetch(`http://127.0.0.1:${port}/v1/health`, options).then(
    ({ status }) => status,
    error => String(error),
  )
}

test('a thousand connections that are idle, silent or begin the next request leave room for health checks', async () => {
  const { process: started } = await startAndRead(IDLE_CLIENTS, [port, CONNECTIONS, SILENT].map(String))
  idleClients = started
  // Connections wait in the system's backlog until others are closed.
  const statuses: (number | string)[] = []
  const seen = () =>
    `health responds five times in a row; exit code ${proxy.exitCode}, last responses: ${statuses.slice(-20)}`
  await waitUntil(seen, async () => {
    statuses.push(await health())
    return statuses.slice(-5).filter(status => status === 200).length === 5
  })
  expect(statuses.at(-1)).toBe(200)
})
