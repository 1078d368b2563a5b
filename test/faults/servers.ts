/** Private PostgreSQL and Redis servers on free ports, with temporary folders. A test can stop, kill, freeze and restart them. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { appendFile, chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { findFreePort, killWithParent } from '../../scripts/bench/processes.ts'
import { nameTablesIn } from '../harness/search-path.ts'

export interface PrivateServer {
  /** The URL stays the same after a restart. */
  url: string
  /** Shuts the server down in order: work in flight is aborted, and commits are on disk. */
  stop(): Promise<void>
  /** Kills all processes, as a crash does, without cleanup. */
  kill(): Promise<void>
  /** PostgreSQL's immediate stop: like a crash, but its processes have ended once this resolves, so that it can restart at once. */
  stopAtOnce(): Promise<void>
  /** Stops all processes with SIGSTOP. They keep their connections, like a hanging machine. */
  freeze(): void
  thaw(): void
  /** Starts the server with its former data. Resolves once it responds. */
  start(): Promise<void>
  /** Ends the server in any state, and removes its folder. */
  remove(): Promise<void>
}

const STARTED_WITHIN_MS = 60_000
const ENDED_WITHIN_MS = 60_000

const postgresFolder = findPostgresFolder()
const redisServer = Bun.which('redis-server')

/** The reason why this machine cannot start private servers; null if it can. */
export const missingServers: string | null =
  postgresFolder === null
    ? 'PostgreSQL is not installed'
    : redisServer === null
      ? 'redis-server is not installed'
      : null

/** Starts a PostgreSQL with an empty database `model_proxy`. */
export async function startPostgres(): Promise<PrivateServer> {
  const cluster = await makeCluster(binary('initdb'))
  const server = await startOn(data => run(asPostgres(['cp', '-a', cluster, data])))
  await run([binary('psql'), adminOf(server), '-qc', 'create database model_proxy', '-c', nameTablesIn('model_proxy')])
  return server
}

/** Starts a standby that follows the primary until `select pg_promote()`. */
export function startStandby(primary: PrivateServer): Promise<PrivateServer> {
  return startOn(data =>
    run(asPostgres([binary('pg_basebackup'), '-d', adminOf(primary), '-D', data, '-R', '-X', 'stream', '-c', 'fast'])),
  )
}

export const binary = (name: string) => {
  if (postgresFolder === null) throw new Error('PostgreSQL is not installed')
  return join(postgresFolder, name)
}
const adminOf = ({ url }: Pick<PrivateServer, 'url'>) => url.replace(/[^/]*$/, 'postgres')

/** Starts a server on the data that `fill` writes to the given folder. */
async function startOn(fill: (data: string) => Promise<void>): Promise<PrivateServer> {
  const folder = await makeFolder('model-proxy-postgres-')
  const data = join(folder, 'data')
  const port = findFreePort()
  const url = `postgres://postgres@127.0.0.1:${port}/model_proxy`
  await fill(data)
  await appendFile(
    join(data, 'postgresql.conf'),
    [
      "listen_addresses = '127.0.0.1'",
      `port = ${port}`,
      `unix_socket_directories = '${data}'`,
      'max_connections = 100',
      // A killed process loses nothing that it has written to the operating system.
      'fsync = off',
      '',
    ].join('\n'),
  )
  const server = createServerProcess({
    command: asPostgres([binary('postgres'), '-D', data]),
    // PostgreSQL's fast shutdown.
    stopSignal: 'SIGINT',
    answers: () => succeeds([binary('psql'), adminOf({ url }), '-qAtc', 'select 1']),
  })
  await server.start()
  return {
    ...server,
    url,
    async remove() {
      await server.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

let cluster: Promise<string> | null = null

/** Runs initdb once for each worker. Each server starts from a copy, which takes a fifth of the processor time. */
function makeCluster(initdb: string): Promise<string> {
  cluster ??= initialize(initdb)
  return cluster
}

async function initialize(initdb: string): Promise<string> {
  const folder = await makeFolder('model-proxy-cluster-')
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const data = join(folder, 'data')
  await run(asPostgres(['install', '-d', '-m', '0700', data]))
  const options = ['-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync']
  await run(asPostgres([initdb, '-D', data, ...options]))
  return data
}

/** Starts a Redis without persistence. */
export async function startRedis(): Promise<PrivateServer> {
  if (redisServer === null) throw new Error('redis-server is not installed')
  const folder = await makeFolder('model-proxy-redis-')
  const port = findFreePort()
  const server = createServerProcess({
    command: killWithTests([
      ...[redisServer, '--port', String(port), '--bind', '127.0.0.1', '--dir', folder],
      ...['--save', '', '--appendonly', 'no'],
    ]),
    stopSignal: 'SIGTERM',
    answers: () => succeeds(['redis-cli', '-h', '127.0.0.1', '-p', String(port), 'ping']),
  })
  await server.start()
  return {
    ...server,
    url: `redis://127.0.0.1:${port}`,
    async remove() {
      await server.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export interface ServerProcess {
  command: string[]
  stopSignal: 'SIGINT' | 'SIGTERM'
  /** Returns whether the server responds. */
  answers(): Promise<boolean>
  startedWithinMs?: number
}

export function createServerProcess({
  command,
  stopSignal,
  answers,
  startedWithinMs = STARTED_WITHIN_MS,
}: ServerProcess) {
  let server: Subprocess | null = null
  const killAtExit = () => server?.kill('SIGKILL')
  process.on('exit', killAtExit)

  /** Signals the server's own process first, so that it cannot fork any more. */
  function signalAll(signal: NodeJS.Signals): void {
    if (!server) return
    const { pid } = server
    signalProcess(pid, signal)
    for (const child of childrenOf(pid)) signalProcess(child, signal)
  }

  async function end(send: () => void): Promise<void> {
    if (!server) return
    const ending = server
    send()
    const ended = await Promise.race([ending.exited.then(() => true), Bun.sleep(ENDED_WITHIN_MS)])
    if (!ended) throw new Error(`Process ${ending.pid} did not end`)
    server = null
  }

  return {
    async start() {
      server = Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
      const deadline = performance.now() + startedWithinMs
      while (!(await answers())) {
        if (server.exitCode !== null || performance.now() > deadline)
          throw new Error(`${command.join(' ')} did not start`)
        await Bun.sleep(50)
      }
    },
    stop: () => end(() => server?.kill(stopSignal)),
    kill: () => end(() => signalAll('SIGKILL')),
    stopAtOnce: () => end(() => server?.kill('SIGQUIT')),
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}

function findPostgresFolder(): string | null {
  const root = '/usr/lib/postgresql'
  if (!existsSync(root)) return null
  const [newest] = readdirSync(root).toSorted((a, b) => Number(b) - Number(a))
  const folder = join(root, newest ?? '', 'bin')
  return existsSync(join(folder, 'postgres')) ? folder : null
}

/** PostgreSQL refuses to run as root. */
export function asPostgres(command: string[]): string[] {
  if (process.getuid?.() !== 0) return killWithTests(command)
  return ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups', '--pdeathsig', 'KILL', ...command]
}

/** Wraps a command so that its process ends with the tests, even after a crash. */
export function killWithTests(command: string[]): string[] {
  return killWithParent(command)
}

async function makeFolder(prefix: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  // The server can run as another user.
  await chmod(folder, 0o777)
  return folder
}

async function run(command: string[]): Promise<void> {
  const child = Bun.spawn(command, { cwd: tmpdir(), stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${await new Response(child.stderr).text()}`)
}

async function succeeds(command: string[]): Promise<boolean> {
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore', timeout: 2_000 })
  return (await child.exited) === 0
}
