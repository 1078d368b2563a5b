/** The outages of a soak, how each begins and ends, and which errors clients may get during it; any other error is a defect. */
import { connect, type Socket } from 'node:net'
import type { PrivateServer } from '../../test/faults/servers.ts'
import type { Scenario } from '../../test/standin/scenario.ts'
import { withDatabase } from './stores.ts'

export type OutageKind = 'redis' | 'postgres' | 'upstream'

export interface Outage {
  name: string
  kind: OutageKind
  begin(): Promise<void> | void
  end(): Promise<void> | void
  /** The database loses the last second's writes, because counters and records do not wait for its disk. */
  forgets?: boolean
}

export interface OutageTargets {
  postgres: PrivateServer
  redis: PrivateServer
  /** Sets the upstream's behaviour from now on; null for complete responses. */
  script(scenario: Scenario | null): Promise<void>
  /** Process id of the simulated upstream. */
  upstreamPid: number
}

/** Connections held by an operator's tools, so that no other client gets one. */
const CROWD = 120

export function listOutages({ postgres, redis, script, upstreamPid }: OutageTargets): Outage[] {
  const ofStore = (kind: 'redis' | 'postgres', server: PrivateServer): Outage[] => [
    { kind, name: `${kind} stopped`, begin: server.stop, end: server.start },
    { kind, name: `${kind} killed`, begin: server.kill, end: server.start, forgets: kind === 'postgres' },
    { kind, name: `${kind} frozen`, begin: server.freeze, end: server.thaw },
  ]
  const ofUpstream = (name: string, scenario: Scenario): Outage => ({
    kind: 'upstream',
    name: `upstream ${name}`,
    begin: () => script(scenario),
    end: () => script(null),
  })
  return [
    ...ofStore('redis', redis),
    ...listRedisSettings(redis.url),
    ...ofStore('postgres', postgres),
    ...listPostgresTroubles(postgres.url),
    ofUpstream('fails', { kind: 'error', status: 500 }),
    ofUpstream('is busy', { kind: 'error', status: 429, retryAfterSeconds: 1 }),
    ofUpstream('refuses', { kind: 'error', status: 400 }),
    ofUpstream('cuts before an answer', { kind: 'cut', after: 'nothing' }),
    ofUpstream('cuts in an answer', { kind: 'cut', after: 2 }),
    ofUpstream('says nothing', { kind: 'hang', after: 'nothing' }),
    ofUpstream('falls silent', { kind: 'hang', after: 2 }),
    ofUpstream('answers no JSON', { kind: 'invalidJson' }),
    ofUpstream('fails in an answer', { kind: 'errorInAnswer', afterChunks: 2, shape: 'bare' }),
    ofUpstream('answers slowly', { kind: 'answer', firstByteDelayMs: 900, chunkPauseMs: 20 }),
    ofUpstream('forgets its end', { kind: 'answer', withoutDone: true }),
    ofUpstream('has a status of its own', { kind: 'raw', status: 699, parts: ['odd'] }),
    {
      kind: 'upstream',
      name: 'upstream frozen',
      begin: () => void process.kill(upstreamPid, 'SIGSTOP'),
      end: () => void process.kill(upstreamPid, 'SIGCONT'),
    },
  ]
}

/** A Redis that answers, but takes no writes. */
function listRedisSettings(url: string): Outage[] {
  const tell = async (...command: string[]) => {
    const { port } = new URL(url)
    await Bun.spawn(['redis-cli', '-p', port, ...command], { stdout: 'ignore', stderr: 'ignore' }).exited
  }
  return [
    {
      kind: 'redis',
      name: 'redis full',
      begin: () => tell('config', 'set', 'maxmemory', '1'),
      end: () => tell('config', 'set', 'maxmemory', '0'),
    },
    {
      kind: 'redis',
      name: 'redis read-only',
      begin: () => tell('replicaof', '127.0.0.1', '1'),
      end: () => tell('replicaof', 'no', 'one'),
    },
    { kind: 'redis', name: 'redis emptied', begin: () => tell('flushall'), end() {} },
  ]
}

/** A PostgreSQL that answers only some clients or statements. */
function listPostgresTroubles(url: string): Outage[] {
  const tell = (text: string) => withDatabase(url, database => database.runScript(text))
  let crowd: Socket[] = []
  let holding = { isOver: true }
  // Each statement separately, because system settings cannot change within a transaction.
  const setReadOnly = async (on: boolean) => {
    const statements = [`alter system set default_transaction_read_only = ${on}`, 'select pg_reload_conf()']
    const commands = statements.flatMap(statement => ['-c', statement])
    await Bun.spawn(['psql', url, '-q', ...commands], { stdout: 'ignore' }).exited
  }
  return [
    { kind: 'postgres', name: 'postgres read-only', begin: () => setReadOnly(true), end: () => setReadOnly(false) },
    {
      kind: 'postgres',
      name: 'postgres cuts connections',
      begin: () => tell('select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()'),
      end() {},
    },
    {
      kind: 'postgres',
      name: 'postgres crowded',
      async begin() {
        crowd = Array.from({ length: CROWD }, () => hang(url))
        await tell('select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()').catch(
          () => {},
        )
      },
      end() {
        for (const socket of crowd) socket.destroy()
      },
    },
    {
      kind: 'postgres',
      name: 'postgres counters locked',
      begin() {
        const held = { isOver: false }
        holding = held
        withDatabase(url, async database => {
          await database.runScript('begin; select * from monthly_counters for update')
          while (!held.isOver) await Bun.sleep(50)
          await database.runScript('rollback')
        }).catch(() => {})
      },
      end() {
        holding.isOver = true
      },
    },
  ]
}

/** A connection without a startup message, for which the server reserves a slot. */
function hang(url: string): Socket {
  const { hostname, port } = new URL(url)
  return connect(Number(port), hostname).on('error', () => {})
}

/** Whether clients may get this error during such an outage. */
export function mayCause(kind: OutageKind, { status, code }: { status: number; code: string | null }): boolean {
  // Without Redis, requests go on.
  if (kind === 'redis') return false
  if (kind === 'postgres') return status === 503 && (code === 'service_unavailable' || code === 'overloaded_error')
  return status >= 500
    ? [500, 502, 503, 504].includes(status) && code !== 'internal_error'
    : status === 429 || status === 400
}
