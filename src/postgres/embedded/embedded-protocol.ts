/** Messages between the server and the worker that holds the embedded database. */

export interface EmbeddedStart {
  /** Folder of the database's files; null keeps them in memory. */
  directory: string | null
  /** Loopback port on which psql reaches the database; null opens none, 0 picks a free one. */
  port: number | null
  /** A dump to start a new database from. */
  template?: Blob
}

export type EmbeddedRequest =
  | { kind: 'start'; start: EmbeddedStart }
  | { kind: 'query'; sql: string; params: readonly unknown[] }
  | { kind: 'script'; sql: string }
  | { kind: 'dump' }
  | { kind: 'close' }

export interface EmbeddedReply {
  id: number
  rows?: unknown[]
  affectedRows?: number
  dump?: Blob
  /** Where psql reaches the database. */
  port?: number
  /** Error message and SQLSTATE. */
  error?: { message: string; code: string | null }
}
