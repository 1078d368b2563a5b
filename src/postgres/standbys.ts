/** Routes operators' reads that may lag to the servers of DATABASE_STANDBY_URL, as long as these follow the primary. */
import { withTimeout } from '../event-loop/timeouts.ts'
import type { DatabaseAddress } from './address.ts'
import { isServerError } from './connection.ts'
import { ConnectionPool } from './connection-pool.ts'
import { type Database, isStatementTimeout, type StandbyState, type Standbys } from './database.ts'
import type { PrimaryPosition, PrimaryTracker } from './primary-tracker.ts'

/** A freshness mark: the WAL position that the primary had flushed, and the oldest acceptable time of a standby's last commit. */
interface FreshnessMark {
  flushed: string
  since: string
  atMs: number
}

const POLL_EVERY_MS = 1_000
const POLL_TIME_LIMIT_MS = 500
const MAX_LAG_MS = 5_000
/** The maximum number of connections to each standby, for each statement timeout. */
const MAX_CONNECTIONS = 2

/** The primary's clock gives both times. */
const READ_MARK = `select pg_current_wal_flush_lsn()::text as flushed, (clock_timestamp() - interval '${MAX_LAG_MS} ms')::text as since`
const isFresh = (flushed: string, since: string) =>
  `coalesce(pg_is_in_recovery() and (pg_last_wal_replay_lsn() >= ${flushed}::pg_lsn or pg_last_xact_replay_timestamp() >= ${since}::timestamptz), false)`
const READ_STATE = `select pg_is_in_recovery() as follows, ${isFresh('$1', '$2')} as is_fresh`
/** The WAL receiver shows its timeline to roles that may read statistics. The control file lags by up to five minutes. */
const READ_HISTORY = `select c.system_identifier::text as system,
  greatest(p.timeline_id, r.min_recovery_end_timeline, (select w.received_tli from pg_stat_wal_receiver w)) as timeline
from pg_control_system() c, pg_control_checkpoint() p, pg_control_recovery() r`

/** Wraps a statement so that only a fresh standby runs it. A host name may resolve to several servers, and a standby may be promoted. */
const guardByFreshness = (text: string, values: number) =>
  `with server as materialized (select ${isFresh(`$${values + 1}`, `$${values + 2}`)} as is_fresh)
select s.is_fresh, r.* from server s left join lateral (select true as is_row, t.* from (${text}) t where s.is_fresh) r on true`

class Standby {
  state: StandbyState = 'down'
  readonly #address: DatabaseAddress
  readonly #pollPool: ConnectionPool
  readonly #readPools = new Map<number, ConnectionPool>()
  /** Functions that reject the reads in flight. */
  readonly #pendingRejects = new Set<(error: Error) => void>()

  constructor(address: DatabaseAddress) {
    this.#address = address
    this.#pollPool = new ConnectionPool({ address, maxConnections: 1 })
  }

  async poll(mark: FreshnessMark, primary: PrimaryTracker): Promise<StandbyState> {
    const history = this.#pollPool.call<PrimaryPosition>(READ_HISTORY, []).catch(error => {
      // Some hosting providers do not grant the privilege to read it.
      if (!isServerError(error)) throw error
      return []
    })
    const state = this.#pollPool.call<{ follows: boolean; is_fresh: boolean }>(READ_STATE, [mark.flushed, mark.since])
    const [[server], [position]] = await Promise.all([state, history])
    if (!server?.follows || (position && !primary.hasSameHistory(position))) return 'no standby'
    return server.is_fresh ? 'up' : 'behind'
  }

  setState(state: StandbyState): void {
    this.state = state
    if (state === 'down') for (const rejectRead of this.#pendingRejects) rejectRead(new Error('the standby is down'))
  }

  read<Row>(text: string, values: readonly unknown[], statementTimeLimitMs: number): Promise<Row[]> {
    const existing = this.#readPools.get(statementTimeLimitMs)
    const options = { address: this.#address, maxConnections: MAX_CONNECTIONS, statementTimeLimitMs }
    const pool = existing ?? new ConnectionPool(options)
    this.#readPools.set(statementTimeLimitMs, pool)
    const { promise, resolve, reject } = Promise.withResolvers<Row[]>()
    this.#pendingRejects.add(reject)
    pool.call<Row>(text, values).then(resolve, reject)
    return promise.finally(() => this.#pendingRejects.delete(reject))
  }

  async close(): Promise<void> {
    await Promise.all([this.#pollPool, ...this.#readPools.values()].map(each => each.close()))
  }
}

export class StandbyRouter implements Standbys {
  readonly #standbys: readonly Standby[]
  readonly #primary: PrimaryTracker
  readonly #primaryPool: ConnectionPool
  #polling: { first: Promise<void>; timer: ReturnType<typeof setInterval> } | null = null
  #mark: FreshnessMark | null = null
  #newestMark: FreshnessMark | null = null
  #nextStandby = 0
  onChange: (place: number, state: StandbyState) => void = () => {}

  constructor({ hosts, ...address }: DatabaseAddress, primary: PrimaryTracker, primaryPool: ConnectionPool) {
    this.#standbys = hosts.map(host => new Standby({ ...address, hosts: [host], isStandby: true }))
    this.#primary = primary
    this.#primaryPool = primaryPool
  }

  async states(): Promise<StandbyState[]> {
    await this.#poll()
    return this.#standbys.map(({ state }) => state)
  }

  /** Reads from the standbys in rotation, and from the primary if none is up or the read fails. A statement timeout is not retried. */
  createReader(primary: ConnectionPool, statementTimeLimitMs: number): Pick<Database, 'call'> {
    return {
      call: async <Row>(text: string, values: readonly unknown[]) => {
        await this.#poll()
        const up = this.#standbys.filter(({ state }) => state === 'up')
        const standby = up[this.#nextStandby++ % up.length]
        const mark = this.#mark
        if (standby && mark && performance.now() - mark.atMs < MAX_LAG_MS) {
          const valuesWithMark = [...values, mark.flushed, mark.since]
          const rows = await standby
            .read<Row & { is_fresh: boolean; is_row: boolean | null }>(
              guardByFreshness(text, values.length),
              valuesWithMark,
              statementTimeLimitMs,
            )
            .catch(error => {
              if (isStatementTimeout(error)) throw error
              return []
            })
          if (rows[0]?.is_fresh) return rows.filter(row => row.is_row)
        }
        return primary.call<Row>(text, values)
      },
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#polling?.timer)
    await Promise.all(this.#standbys.map(each => each.close()))
  }

  #poll(): Promise<void> {
    if (this.#polling === null) {
      const timer = setInterval(() => void this.#pollAll(), POLL_EVERY_MS)
      timer.unref()
      this.#polling = { first: this.#pollAll(), timer }
    }
    return this.#polling.first
  }

  async #pollAll(): Promise<void> {
    const [row] = await withPollTimeout(this.#primaryPool.call<Omit<FreshnessMark, 'atMs'>>(READ_MARK, [])).catch(
      () => [],
    )
    if (row) {
      // The previous mark is used, so that a standby has the time between two polls to replay the latest writes.
      this.#mark = this.#newestMark ?? { ...row, atMs: performance.now() }
      this.#newestMark = { ...row, atMs: performance.now() }
    }
    const mark = this.#mark
    if (!mark) return
    const polls = this.#standbys.map(async (standby, i) => {
      const state = await withPollTimeout(standby.poll(mark, this.#primary)).catch(() => 'down' as const)
      if (state !== standby.state) this.onChange(i + 1, state)
      standby.setState(state)
    })
    await Promise.all(polls)
  }
}

const withPollTimeout = <T>(poll: Promise<T>) => withTimeout(POLL_TIME_LIMIT_MS, poll)
