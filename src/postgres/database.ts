/** The seam between the two backends: the same queries over a real PostgreSQL or the embedded one. */
import type { Kysely } from 'kysely'
import type { DB } from './types.generated.ts'

export interface CallOptions {
  /** Comes before other calls where there is one session for all, as in the embedded database. */
  isUrgent?: boolean
}

export interface Database {
  /** Typed queries; every value from outside travels as a parameter. */
  readonly queries: Kysely<DB>
  /**
   * Runs a statement that requests wait for, by the shortest way: `text`, put together once, has `$1` and so on for `values`.
   * The type of its rows is the caller's to know. Rejects with AnswerLost where nobody knows whether it ran.
   */
  call<Row>(text: string, values: readonly unknown[], options?: CallOptions): Promise<Row[]>
  /** embedded: PGlite in a worker of this process. real: a server at `DATABASE_URL`. */
  readonly backend: 'embedded' | 'real'
  /** Loopback port where psql reaches the embedded database; null for a real one, and where none was asked for. */
  readonly psqlPort: number | null
  /** Whether graphs may be built: embedded, building one is a hundred times slower. */
  readonly buildsGraphs: boolean
  /** Runs SQL text of several statements in one transaction; it takes no parameters. */
  runScript(text: string): Promise<void>
  /** Runs several such texts in one transaction; a failure rejects with ScriptFailed. For migrations. */
  runScripts(scripts: readonly Script[]): Promise<void>
  /** Ends what runs and disconnects. */
  close(): Promise<void>
}

export interface Script {
  /** For whoever has to read of its failure. */
  name: string
  text: string
}

/** One of several scripts failed, and none of them has done anything. */
export class ScriptFailed extends Error {
  constructor(
    readonly script: string,
    cause: unknown,
  ) {
    super(`${script} failed`, { cause })
    this.name = 'ScriptFailed'
  }
}

/** A statement was sent and no answer came: it may have run, may run yet, or may never. */
export class AnswerLost extends Error {
  constructor(cause: unknown) {
    super('The database did not answer', { cause })
    this.name = 'AnswerLost'
  }
}

/** PostgreSQL's SQLSTATE of an error, where it has one. */
export function sqlStateOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null
  return typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : null
}

/** SQLSTATE: character_not_in_repertoire, untranslatable_character. */
const UNHELD = ['22021', '22P05']

/** Whether a statement was given U+0000, which PostgreSQL's text cannot hold. */
export function isUnheldText(error: unknown): boolean {
  return UNHELD.includes(sqlStateOf(error) ?? '')
}

/** SQLSTATE: lock_not_available. */
const LOCK_NOT_AVAILABLE = '55P03'

/** Whether a statement was refused because somebody else held a row for too long: it has done nothing. */
export function isLockedOut(error: unknown): boolean {
  return sqlStateOf(error) === LOCK_NOT_AVAILABLE
}
