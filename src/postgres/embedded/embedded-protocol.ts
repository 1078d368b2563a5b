/** Messages between the server and the worker that runs the embedded database. */

export interface EmbeddedStartOptions {
  /** The directory of the database's files; null for a database in memory. */
  directory: string | null
  /** The schema in psql's search path; the proxy's default schema if omitted. */
  schema?: string
  /** A dump from which a new database starts. */
  template?: Blob
}

export type EmbeddedRequest =
  | { kind: 'start'; start: EmbeddedStartOptions }
  | { kind: 'query'; sql: string; params: readonly unknown[] }
  | { kind: 'script'; sql: string }
  /** Scripts that run in one transaction. */
  | { kind: 'scripts'; texts: readonly string[] }
  | { kind: 'dump' }
  | { kind: 'close' }

export interface EmbeddedReply {
  id: number
  rows?: unknown[]
  dump?: Blob
  /** The error's message and SQLSTATE, and the index of the script that failed. */
  error?: { message: string; code: string | null; script?: number }
}

/** Messages of psql sessions, by session number. They have no reply. */
export type PsqlRequest =
  /** The client has authenticated. `bytes` is its startup message. */
  | { kind: 'psql-open'; session: number; bytes: Uint8Array }
  | { kind: 'psql-message'; session: number; type: string; bytes: Uint8Array }
  | { kind: 'psql-end'; session: number }

export type PsqlEvent =
  | { kind: 'psql-bytes'; session: number; bytes: Uint8Array }
  | { kind: 'psql-ended'; session: number }
  /** Reports whether a statement of a psql session is running. The worker handles nothing else meanwhile. */
  | { kind: 'psql-runs'; runs: boolean }
