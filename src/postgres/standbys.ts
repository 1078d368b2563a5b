/** The servers of DATABASE_STANDBY_URL: they answer operators' reads that may miss the last seconds, while they follow the primary. */
import { withTimeout } from '../event-loop/timeouts.ts'
import type { DatabaseAddress } from './address.ts'
import { type Connections, openConnections } from './connection-pool.ts'
import { type Database, isStatementTimeout, type StandbyState, type Standbys } from './database.ts'
import { isServerError } from './driver.ts'
import type { PrimaryPosition, PrimaryTracker } from './primary-tracker.ts'

/** What the primary had on disk when it was last asked but one, and how old the last commit may be that a standby has. */
interface Mark {
  flushed: string
  since: string
  atMs: number
}

const ASK_EVERY_MS = 1_000
const ANSWER_WITHIN_MS = 500
const MOST_LAG_MS = 5_000
/** Of each standby, for each time limit. */
const CONNECTIONS = 2

/** Both times are by the primary's clock. */
const MARK = `select pg_current_wal_flush_lsn()::text as flushed, (clock_timestamp() - interval '${MOST_LAG_MS} ms')::text as since`
const isFresh = (flushed: string, since: string) =>
  `coalesce(pg_is_in_recovery() and (pg_last_wal_replay_lsn() >= ${flushed}::pg_lsn or pg_last_xact_replay_timestamp() >= ${since}::timestamptz), false)`
const STATE = `select pg_is_in_recovery() as follows, ${isFresh('$1', '$2')} as is_fresh`
/** The receiver tells its timeline to those who may read statistics; the control file is up to five minutes late. */
const HISTORY = `select c.system_identifier::text as system,
  greatest(p.timeline_id, r.min_recovery_end_timeline, (select w.received_tli from pg_stat_wal_receiver w)) as timeline
from pg_control_system() c, pg_control_checkpoint() p, pg_control_recovery() r`

/** The statement, run only by a standby that is fresh at that moment: the name may lead to several, and one may be promoted. */
const guarded = (text: string, values: number) =>
  `with server as materialized (select ${isFresh(`$${values + 1}`, `$${values + 2}`)} as is_fresh)
select s.is_fresh, r.* from server s left join lateral (select true as is_row, t.* from (${text}) t where s.is_fresh) r on true`

class Standby {
  state: StandbyState = 'down'
  readonly #address: DatabaseAddress
  readonly #asking: Connections
  readonly #reading = new Map<number, Connections>()
  /** Rejects reads under way. */
  readonly #giveUps = new Set<(error: Error) => void>()

  constructor(address: DatabaseAddress) {
    this.#address = address
    this.#asking = openConnections({ address, maxConnections: 1 })
  }

  async ask(mark: Mark, primary: PrimaryTracker): Promise<StandbyState> {
    const history = this.#asking.call<PrimaryPosition>(HISTORY, []).catch(error => {
      // Some operators let nobody ask.
      if (!isServerError(error)) throw error
      return []
    })
    const asked = this.#asking.call<{ follows: boolean; is_fresh: boolean }>(STATE, [mark.flushed, mark.since])
    const [[server], [told]] = await Promise.all([asked, history])
    if (!server?.follows || (told && !primary.hasSameHistory(told))) return 'no standby'
    return server.is_fresh ? 'up' : 'behind'
  }

  note(state: StandbyState): void {
    this.state = state
    if (state === 'down') for (const giveUp of this.#giveUps) giveUp(new Error('The standby is down'))
  }

  read<Row>(text: string, values: readonly unknown[], statementTimeLimitMs: number): Promise<Row[]> {
    const known = this.#reading.get(statementTimeLimitMs)
    const options = { address: this.#address, maxConnections: CONNECTIONS, statementTimeLimitMs }
    const connections = known ?? openConnections(options)
    this.#reading.set(statementTimeLimitMs, connections)
    const { promise, resolve, reject } = Promise.withResolvers<Row[]>()
    this.#giveUps.add(reject)
    connections.call<Row>(text, values).then(resolve, reject)
    return promise.finally(() => this.#giveUps.delete(reject))
  }

  async close(): Promise<void> {
    await Promise.all([this.#asking, ...this.#reading.values()].map(each => each.close()))
  }
}

export class StandbyRouter implements Standbys {
  readonly #standbys: readonly Standby[]
  readonly #primary: PrimaryTracker
  readonly #askPrimary: Connections['call']
  #asking: { first: Promise<void>; timer: ReturnType<typeof setInterval> } | null = null
  #mark: Mark | null = null
  #newestMark: Mark | null = null
  #turn = 0
  onChange: (place: number, state: StandbyState) => void = () => {}

  constructor({ hosts, ...address }: DatabaseAddress, primary: PrimaryTracker, askPrimary: Connections['call']) {
    this.#standbys = hosts.map(host => new Standby({ ...address, hosts: [host], isStandby: true }))
    this.#primary = primary
    this.#askPrimary = askPrimary
  }

  async states(): Promise<StandbyState[]> {
    await this.#ask()
    return this.#standbys.map(({ state }) => state)
  }

  /** One standby is asked, in turn; the primary, where none is up, or that one fails. What takes a standby too long is not begun again. */
  createReader(primary: Connections, statementTimeLimitMs: number): Pick<Database, 'call'> {
    return {
      call: async <Row>(text: string, values: readonly unknown[]) => {
        await this.#ask()
        const up = this.#standbys.filter(({ state }) => state === 'up')
        const standby = up[this.#turn++ % up.length]
        const mark = this.#mark
        if (standby && mark && performance.now() - mark.atMs < MOST_LAG_MS) {
          const given = [...values, mark.flushed, mark.since]
          const rows = await standby
            .read<Row & { is_fresh: boolean; is_row: boolean | null }>(
              guarded(text, values.length),
              given,
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
    clearInterval(this.#asking?.timer)
    await Promise.all(this.#standbys.map(each => each.close()))
  }

  #ask(): Promise<void> {
    if (this.#asking === null) {
      const timer = setInterval(() => void this.#askAll(), ASK_EVERY_MS)
      timer.unref()
      this.#asking = { first: this.#askAll(), timer }
    }
    return this.#asking.first
  }

  async #askAll(): Promise<void> {
    const [row] = await within(this.#askPrimary<Omit<Mark, 'atMs'>>(MARK, [])).catch(() => [])
    if (row) {
      // A standby gets the time between two of them to replay what was written just now.
      this.#mark = this.#newestMark ?? { ...row, atMs: performance.now() }
      this.#newestMark = { ...row, atMs: performance.now() }
    }
    const mark = this.#mark
    if (!mark) return
    const asked = this.#standbys.map(async (standby, i) => {
      const state = await within(standby.ask(mark, this.#primary)).catch(() => 'down' as const)
      if (state !== standby.state) this.onChange(i + 1, state)
      standby.note(state)
    })
    await Promise.all(asked)
  }
}

const within = <T>(asked: Promise<T>) => withTimeout(ANSWER_WITHIN_MS, asked)
