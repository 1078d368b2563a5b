/** The outages of a soak: how each begins and ends, and which errors clients may receive during it. Any other error is a defect. */
import { connect, type Socket } from 'node:net'
import type { RedisCluster, RedisNode } from '../../test/engines/redis-servers.ts'
import type { Scenario } from '../../test/fake-provider/scenario.ts'
import type { CuttingProxy } from '../../test/faults/cutting-proxy.ts'
import type { PrivateServer } from '../../test/faults/servers.ts'
import { withDatabase } from '../bench/stores.ts'
import type { Upstream } from '../bench/targets.ts'

export type OutageKind = 'proxy' | 'redis' | 'postgres' | 'upstream'

export interface Outage {
  name: string
  kind: OutageKind
  begin(): unknown
  end(): unknown
  /** Whether data that is not yet on disk is lost: the last records, and for the database also the last counts. */
  forgets?: boolean
  /** The port of the affected proxy; without it, all proxies are affected. */
  port?: number
}

export interface OutageTargets {
  postgres: PrivateServer
  relay: CuttingProxy
  redis: RedisCluster
  /** The proxies that may be stopped and restarted. */
  proxies: readonly RestartedProxy[]
  upstream: Upstream
  /** Returns a number from 0 to 1. */
  random(): number
}

export interface RestartedProxy {
  port: number
  kill(): Promise<unknown>
  stop(): Promise<unknown>
  freeze(): void
  thaw(): void
  start(): Promise<unknown>
}

/** Connections that occupy all slots, so that no other client gets one. */
const CROWD = 120

export function listOutages(targets: OutageTargets): Outage[] {
  const { postgres, relay, upstream } = targets
  const ofUpstream = (name: string, scenario: Scenario): Outage => ({
    kind: 'upstream',
    name: `upstream ${name}`,
    begin: () => upstream.script(scenario),
    end: () => upstream.script({ kind: 'answer' }),
  })
  return [
    ...targets.proxies.flatMap(listProxyTroubles),
    ...listRedisTroubles(targets),
    { kind: 'postgres', name: 'postgres stopped', begin: postgres.stop, end: postgres.start },
    { kind: 'postgres', name: 'postgres killed', begin: postgres.kill, end: postgres.start, forgets: true },
    { kind: 'postgres', name: 'postgres frozen', begin: postgres.freeze, end: postgres.thaw },
    { kind: 'postgres', name: 'postgres loses replies', begin: relay.cut, end: relay.pass },
    ...listPostgresTroubles(postgres.url),
    ofUpstream('fails', { kind: 'error', status: 500 }),
    ofUpstream('is busy', { kind: 'error', status: 429, retryAfterSeconds: 1 }),
    ofUpstream('rejects', { kind: 'error', status: 400 }),
    ofUpstream('cuts before a response', { kind: 'cut', after: 'nothing' }),
    ofUpstream('cuts in a response', { kind: 'cut', after: 2 }),
    ofUpstream('sends nothing', { kind: 'hang', after: 'nothing' }),
    ofUpstream('hangs in a response', { kind: 'hang', after: 2 }),
    ofUpstream('sends invalid JSON', { kind: 'invalidJson' }),
    ofUpstream('fails in a response', { kind: 'errorInAnswer', afterChunks: 2, shape: 'bare' }),
    ofUpstream('is slow', { kind: 'answer', firstByteDelayMs: 900, chunkPauseMs: 20 }),
    ofUpstream('omits the end of streams', { kind: 'answer', withoutDone: true }),
    ofUpstream('sends an unknown status', { kind: 'raw', status: 699, parts: ['odd'] }),
    {
      kind: 'upstream',
      name: 'upstream frozen',
      begin: () => void process.kill(upstream.pid, 'SIGSTOP'),
      end: () => void process.kill(upstream.pid, 'SIGCONT'),
    },
  ]
}

function listProxyTroubles({ port, kill, stop, freeze, thaw, start }: RestartedProxy): Outage[] {
  return [
    { kind: 'proxy', port, name: `proxy ${port} killed`, begin: kill, end: start, forgets: true },
    { kind: 'proxy', port, name: `proxy ${port} stopped`, begin: stop, end: start },
    { kind: 'proxy', port, name: `proxy ${port} frozen`, begin: freeze, end: thaw },
  ]
}

/**
 * One master or all nodes of the cluster are down, frozen or reject writes. Roles change, so the master is determined when an outage
 * begins.
 */
function listRedisTroubles({ redis, random }: OutageTargets): Outage[] {
  const nodes = [...redis.masters, ...redis.replicas]
  const all = (run: (node: RedisNode) => unknown) => Promise.all(nodes.map(run))
  const tellAll = (...command: string[]) => all(node => node.call(...command))
  let chosen = nodes[0] as RedisNode
  const choose = async (role: 'master' | 'slave') => {
    const roles = await all(node => node.call('role'))
    const candidates = nodes.filter((_, i) => String(roles[i]).startsWith(role))
    chosen = candidates[Math.floor(random() * candidates.length)] ?? chosen
    return chosen
  }
  const outages: Omit<Outage, 'kind'>[] = [
    { name: 'master killed', begin: async () => (await choose('master')).kill(), end: () => chosen.start() },
    { name: 'master frozen', begin: async () => (await choose('master')).freeze(), end: () => chosen.thaw() },
    { name: 'replica promoted', begin: async () => (await choose('slave')).call('cluster', 'failover'), end() {} },
    { name: 'killed', begin: () => all(node => node.kill()), end: () => all(node => node.start()) },
    { name: 'frozen', begin: () => all(node => node.freeze()), end: () => all(node => node.thaw()) },
    {
      name: 'full',
      begin: () => tellAll('config', 'set', 'maxmemory', '1'),
      end: () => tellAll('config', 'set', 'maxmemory', '0'),
    },
    { name: 'emptied', begin: () => tellAll('flushall'), end() {} },
    { name: 'cuts connections', begin: () => tellAll('client', 'kill', 'type', 'normal'), end() {} },
  ]
  return outages.map(outage => ({ ...outage, kind: 'redis', name: `redis ${outage.name}` }))
}

/** Outages in which PostgreSQL serves only some clients or statements. */
function listPostgresTroubles(url: string): Outage[] {
  const tell = (text: string) => withDatabase(url, database => database.runScript(text))
  let crowd: Socket[] = []
  let holding = { isOver: true }
  // A separate command per statement, because system settings cannot change within a transaction.
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
      name: 'postgres without free connections',
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

/** Opens a connection without a startup message, for which the server reserves a slot. */
function hang(url: string): Socket {
  const { hostname, port } = new URL(url)
  return connect(Number(port), hostname).on('error', () => {})
}

/** Whether a client of the proxy at `port` may receive this incomplete response during the outage. */
export function mayCause(
  { kind, port, name }: Outage,
  one: { port: number; status: number; code: string | null; isBusy: boolean },
): boolean {
  const { status, code, isBusy } = one
  // The proxy serves requests without Redis.
  if (kind === 'redis') return false
  if (kind === 'postgres') return status === 503 && (code === 'service_unavailable' || code === 'overloaded_error')
  // A stream ends with the process that began it, also for requests at other processes that share the call.
  if (kind === 'proxy' && status === 200) return !name.endsWith('stopped')
  // A process that has just started compiles code and may be overloaded. Time limits of a frozen process have expired when it resumes.
  if (kind === 'proxy')
    return one.port === port && (status === 0 || isBusy || (name.endsWith('frozen') && status > 501))
  if (status === 200) return true
  return status >= 500
    ? [500, 502, 503, 504].includes(status) && code !== 'internal_error'
    : status === 429 || status === 400
}
