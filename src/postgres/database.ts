/** The interface of both backends: the same queries on a PostgreSQL server or the embedded database. */
import type { PrimaryTracker } from './primary-tracker.ts'
import type { TlsState } from './secure-socket.ts'

export interface CallOptions {
  /** Runs before other calls on the embedded database, which has a single session. */
  isUrgent?: boolean
}

export interface Database {
  /**
   * Runs a statement on the hot path: `text` is constant and has `$1` and so on for `values`. The caller declares the type of its rows.
   * Rejects with ReplyLost when it is unknown whether the statement ran.
   */
  call<Row>(text: string, values: readonly unknown[], options?: CallOptions): Promise<Row[]>
  /** embedded: PGlite in a worker of this process. real: a server at `DATABASE_URL`. */
  readonly backend: 'embedded' | 'real'
  /** Loopback port where psql reaches the embedded database; null for a server, or when psql is not served. */
  readonly psqlPort: number | null
  /** Whether large groups get lists: on the embedded database, building an index is a hundred times slower. */
  readonly hasVectorLists: boolean
  /** What is known of the server; null for the embedded database. */
  readonly primary: PrimaryTracker | null
  /** How the connection to the server is protected; absent for the embedded database. */
  readonly tls?: TlsState
  /** As its statements find it. */
  readonly disk: DiskState
  /** Null where no standby is set. */
  readonly standbys: Standbys | null
  /** From now on, requests share at most so many connections; the embedded database has one session. */
  limitConnections(most: number): void
  /** Connections of requests: those that are open, and how many there may be. */
  connections(): { open: number; most: number }
  /** When it last answered a request, by `performance.now()`, or let one of its connections in. */
  lastReplyAtMs(): number
  /** Runs SQL text of several statements in one transaction; it takes no parameters. `limitMs`: of each statement, by default ten seconds. */
  runScript(text: string, limitMs?: number): Promise<void>
  /** Runs several scripts in one transaction; rejects with ScriptError when one fails. For migrations. */
  runScripts(scripts: readonly SqlScript[]): Promise<void>
  /**
   * The same database for operators' statements, which may be long: over connections of their own, so that no request waits for them.
   * Itself where there is one session. Closed with it.
   */
  readonly operatorDatabase: Database
  /** For operators' reads that may miss the last seconds: on a standby, where one is set and up; else itself. */
  readonly readReplica: Pick<Database, 'call'>
  /** Aborts what is running and disconnects. */
  close(): Promise<void>
}

export interface DiskState {
  /** Whether there is no room for what is to be written: nothing else fails. */
  readonly isFull: boolean
  /** Called when it is found to be full, and when there is room again. */
  onChange(isFull: boolean): void
}

/** `behind`: it lacks what is older than five seconds. `no standby`: it takes writes, or has not the primary's history. */
export type StandbyState = 'up' | 'behind' | 'no standby' | 'down'

export interface Standbys {
  /** In the order of the setting. They are asked from the first time on that this, or a read, is called. */
  states(): Promise<StandbyState[]>
  /** Called when the state of one changes; `place` counts from 1. */
  onChange: (place: number, state: StandbyState) => void
}

export interface SqlScript {
  /** For error messages. */
  name: string
  text: string
}

/** One of several scripts failed, and all of them were rolled back. */
export class ScriptError extends Error {
  constructor(
    readonly script: string,
    cause: unknown,
  ) {
    super(`${script} failed`, { cause })
    this.name = 'ScriptFailed'
  }
}

/** A statement was sent and no reply came: it may have run, may run later, or may never run. */
export class ReplyLost extends Error {
  constructor(cause: unknown) {
    super('The database did not answer', { cause })
    this.name = 'AnswerLost'
  }
}

/** PostgreSQL's SQLSTATE of an error; null when it has none. */
export function sqlStateOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null
  return typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : null
}

/** SQLSTATE: character_not_in_repertoire, untranslatable_character. */
const UNSTORABLE = ['22021', '22P05']

/** Whether a statement was given U+0000, which PostgreSQL's text cannot hold. */
export function isNulCharacterError(error: unknown): boolean {
  return UNSTORABLE.includes(sqlStateOf(error) ?? '')
}

/** SQLSTATE: query_canceled. */
const QUERY_CANCELED = '57014'

/** Whether the server ended a statement because it took longer than its connection allows. */
export function isStatementTimeout(error: unknown): boolean {
  return sqlStateOf(error) === QUERY_CANCELED
}

/** SQLSTATE classes of what passes: connections, resources, and locks that were not available. */
const PASSING = /^(08|53|57|55P)/

/** Whether a statement failed because the database could not be reached, or could not do it now. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return error instanceof ReplyLost || PASSING.test(sqlStateOf(error) ?? '')
}

/**
 * SQLSTATEs of what a statement's values, or others at the same time, make of it: cardinality, data, integrity constraints, rolled back, not in
 * the prerequisite state, no such row. The SQL functions raise some of them for people.
 */
const ORDINARY = /^(2[123]|40|55|P0002)/
const INSUFFICIENT_PRIVILEGE = '42501'

/** SQLSTATE: invalid_role_specification, by run_as_actor(). */
const NO_ROLE = '0P000'

/**
 * Whether PostgreSQL rejected a statement because the proxy's own role lacks a right. Its message names the object. What a function raises
 * with the same SQLSTATE is about its caller.
 */
export function isPermissionDenied(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const state = sqlStateOf(error)
  return state === NO_ROLE || (state === INSUFFICIENT_PRIVILEGE && /^(permission denied|must be) /.test(error.message))
}

/** Whether PostgreSQL ran a statement and failed for a reason that no caller can have caused: a function that is gone, for example. */
export function isInternalDatabaseError(error: unknown): boolean {
  const state = sqlStateOf(error)
  if (state === null || isDatabaseUnavailable(error) || ORDINARY.test(state)) return false
  return state !== INSUFFICIENT_PRIVILEGE || isPermissionDenied(error)
}

/** SQLSTATE: lock_not_available. */
const LOCK_NOT_AVAILABLE = '55P03'

/** Whether a statement failed because another transaction held a lock for too long. It has changed nothing. */
export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(error) === LOCK_NOT_AVAILABLE
}
