/** The interface of both backends: the same queries run on a PostgreSQL server and on the embedded database. */
import type { PrimaryTracker } from './primary-tracker.ts'
import type { TlsState } from './secure-socket.ts'

export interface Database {
  /**
   * Runs a statement of the hot path. `text` is constant and has placeholders `$1`, `$2`, … for `values`. The caller declares the type of
   * the rows. Rejects with ReplyLost when it is unknown whether the statement ran.
   */
  call<Row>(text: string, values: readonly unknown[]): Promise<Row[]>
  /** `embedded` is PGlite in a worker of this process; `real` is the server at `DATABASE_URL`. */
  readonly backend: 'embedded' | 'real'
  /** The loopback port where psql reaches the embedded database. Null for a server, and when psql is not served. */
  readonly psqlPort: number | null
  /** Tracks which server is the primary. Null for the embedded database. */
  readonly primary: PrimaryTracker | null
  /** How the connection to the server is encrypted. Absent for the embedded database. */
  readonly tls?: TlsState
  /** The state of the database's disk, as its statements report it. */
  readonly disk: DiskState
  /** Null if DATABASE_STANDBY_URL is not set. */
  readonly standbys: Standbys | null
  /** Limits the connections that requests share, from now on. Does nothing on the embedded database, which has one session. */
  limitConnections(maxConnections: number): void
  /** The connections of requests: `open` now, and at most `most`. */
  connections(): { open: number; most: number }
  /** `performance.now()` of the last reply to a request, or of the last connection that was opened. */
  lastReplyAtMs(): number
  /** Runs SQL text of several statements, without parameters, in one transaction. `limitMs` limits each statement; ten seconds by default. */
  runScript(text: string, limitMs?: number): Promise<void>
  /** Runs several scripts in one transaction, for migrations. Rejects with ScriptError when one fails. */
  runScripts(scripts: readonly SqlScript[]): Promise<void>
  /**
   * The same database for operators' statements, which may be long. It has connections of its own, so that no request waits for them. The
   * embedded database, which has one session, returns itself. Closes with this database.
   */
  readonly operatorDatabase: Database
  /** For operators' reads that may miss the last seconds: reads from a standby if one is configured and up, else from this database. */
  readonly readReplica: Pick<Database, 'call'>
  /** Aborts running statements and disconnects. */
  close(): Promise<void>
}

export interface DiskState {
  /** True while writes fail because the disk is full. Other statements still succeed. */
  readonly isFull: boolean
  /** Called when the disk becomes full, and when it has free space again. */
  onChange(isFull: boolean): void
}

/** `behind`: the standby lags by more than five seconds. `no standby`: the server accepts writes, or does not have the primary's history. */
export type StandbyState = 'up' | 'behind' | 'no standby' | 'down'

export interface Standbys {
  /** Returns the states in the order of the setting. Polling starts with the first call of this method, or with the first read. */
  states(): Promise<StandbyState[]>
  /** Called when the state of a standby changes. `place` is its position in the setting, from 1. */
  onChange: (place: number, state: StandbyState) => void
}

export interface SqlScript {
  /** Names the script in error messages. */
  name: string
  text: string
}

/** Thrown when one of several scripts fails. All of them are rolled back. */
export class ScriptError extends Error {
  constructor(
    readonly script: string,
    cause: unknown,
  ) {
    super(`${script} failed`, { cause })
    this.name = 'ScriptError'
  }
}

/** Thrown when a statement was sent and no reply came: it may have run, may run later, or may never run. */
export class ReplyLost extends Error {
  constructor(cause: unknown) {
    super('the database did not reply', { cause })
    this.name = 'ReplyLost'
  }
}

/** Returns the SQLSTATE of an error; null if it has none. */
export function sqlStateOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null
  return typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : null
}

/** SQLSTATEs: character_not_in_repertoire, untranslatable_character. */
const NUL_CHARACTER_STATES = ['22021', '22P05']

/** Returns true if a statement failed because a value contains U+0000, which PostgreSQL's text cannot hold. */
export function isNulCharacterError(error: unknown): boolean {
  return NUL_CHARACTER_STATES.includes(sqlStateOf(error) ?? '')
}

/** SQLSTATE: query_canceled. */
const QUERY_CANCELED = '57014'

/** Returns true if the server canceled a statement because it exceeded the statement timeout of its connection. */
export function isStatementTimeout(error: unknown): boolean {
  return sqlStateOf(error) === QUERY_CANCELED
}

/** SQLSTATE classes of transient failures: connections, resources, and locks that were not available. */
const TRANSIENT_STATES = /^(08|53|57|55P)/

/** Returns true if a statement failed because the database is unreachable, or cannot run it at the moment. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return error instanceof ReplyLost || TRANSIENT_STATES.test(sqlStateOf(error) ?? '')
}

/**
 * SQLSTATEs that a statement's values or concurrent transactions cause: cardinality violation, data exception, integrity constraint violation,
 * transaction rollback, object not in prerequisite state, no data found. SQL functions raise some of them for callers.
 */
const EXPECTED_STATES = /^(2[123]|40|55|P0002)/
const INSUFFICIENT_PRIVILEGE = '42501'

/** SQLSTATE: invalid_role_specification. run_as_actor() raises it. */
const INVALID_ROLE = '0P000'

/**
 * Returns true if PostgreSQL rejected a statement because the proxy's own role lacks a privilege. The message of such an error names the
 * object. A SQL function that raises the same SQLSTATE rejects its caller instead.
 */
export function isPermissionDenied(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const state = sqlStateOf(error)
  return (
    state === INVALID_ROLE || (state === INSUFFICIENT_PRIVILEGE && /^(permission denied|must be) /.test(error.message))
  )
}

/** Returns true if a statement failed for a reason that no caller can have caused, such as a missing function. */
export function isInternalDatabaseError(error: unknown): boolean {
  const state = sqlStateOf(error)
  if (state === null || isDatabaseUnavailable(error) || EXPECTED_STATES.test(state)) return false
  return state !== INSUFFICIENT_PRIVILEGE || isPermissionDenied(error)
}

/** SQLSTATE: lock_not_available. */
const LOCK_NOT_AVAILABLE = '55P03'

/** Returns true if a statement failed because another transaction held a lock for too long. The statement changed nothing. */
export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(error) === LOCK_NOT_AVAILABLE
}
