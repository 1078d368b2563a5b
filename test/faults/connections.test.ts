/** Connections that ask nothing, on a process that may hold few of them. */
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Subprocess } from 'bun'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { tieToTests } from './servers.ts'

const SERVER = fileURLToPath(new URL('../../src/process/server.ts', import.meta.url))
const DESCRIPTORS = 256
/** More than it can hold, and few enough for a test process that may open 1,024 files in all. */
const CONNECTIONS = 400
const SILENT = 50

let dataDir: string
let proxy: Subprocess
let port: number
const sockets: Socket[] = []

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'model-proxy-connections-'))
  port = findFreePort()
  const command = ['sh', '-c', `ulimit -n ${DESCRIPTORS}; exec ${process.execPath} ${SERVER}`]
  proxy = Bun.spawn(tieToTests(command), {
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
  await waitUntil('it serves', 60_000, async () => (await health()) === 200)
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  proxy.kill('SIGKILL')
  await proxy.exited
  await rm(dataDir, { recursive: true, force: true })
})

/** The status, or what kept it from being told. */
async function health(): Promise<number | string> {
  const options = { headers: { connection: 'close' }, signal: AbortSignal.timeout(5_000) }
  return fetch(`http://127.0.0.1:${port}/v1/health`, options).then(
    ({ status }) => status,
    error => String(error),
  )
}

test('connections that idle after an answer, and some that are silent, leave room for health', async () => {
  for (let i = 0; i < CONNECTIONS; i++) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    // Bun ends by itself those that stay silent for twelve seconds.
    if (i >= SILENT) socket.write('POST /v1/chat/completions HTTP/1.1\r\nHost: proxy\r\nContent-Length: 2\r\n\r\n{}')
    sockets.push(socket)
  }
  // Those behind them in the system's queue come in as others go.
  const told: (number | string)[] = []
  const seen = () =>
    `health is told, and told again; the process ended with ${proxy.exitCode}, told: ${told.slice(-20)}`
  await waitUntil(seen, 50_000, async () => {
    told.push(await health())
    return told.slice(-5).filter(status => status === 200).length === 5
  })
  expect(told.at(-1)).toBe(200)
}, 60_000)
