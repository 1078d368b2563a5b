/** Messages between the server and the worker that holds the embedded database. */

export interface EmbeddedStartOptions {
  /** Folder of the database's files; null keeps them in memory. */
  directory: string | null
  /** Where `psql` looks for names without one; the proxy's own by default. */
  schema?: string
  /** A dump that a new database starts from. */
  template?: Blob
}

export type EmbeddedRequest =
  | { kind: 'start'; start: EmbeddedStartOptions }
  /** `isUrgent`: runs before requests that are not urgent. */
  | { kind: 'query'; sql: string; params: readonly unknown[]; isUrgent: boolean }
  | { kind: 'script'; sql: string }
  /** In one transaction. */
  | { kind: 'scripts'; texts: readonly string[] }
  | { kind: 'dump' }
  | { kind: 'close' }

export interface EmbeddedReply {
  id: number
  rows?: unknown[]
  affectedRows?: number
  dump?: Blob
  /** Which of several scripts failed, and why. */
  failed?: { script: number; message: string; code: string | null }
  /** Error message and SQLSTATE. */
  error?: { message: string; code: string | null }
}

/** Events of psql's sessions, by session number; they have no reply. */
export type PsqlRequest =
  /** The password was right; `bytes` is PostgreSQL's startup message. */
  | { kind: 'psql-open'; session: number; bytes: Uint8Array }
  | { kind: 'psql-message'; session: number; type: string; bytes: Uint8Array }
  | { kind: 'psql-end'; session: number }

export type PsqlEvent =
  | { kind: 'psql-bytes'; session: number; bytes: Uint8Array }
  | { kind: 'psql-ended'; session: number }
  /** Whether a session's statement is running; the worker handles nothing else meanwhile. */
  | { kind: 'psql-runs'; runs: boolean }
