/** Connections to a PostgreSQL server: a few, kept open, and dropped when they fail or fall silent. */
import type { PostgresPool, PostgresPoolClient } from 'kysely'
import pg, { type PoolClient } from 'pg'
import { sqlStateOf } from './database.ts'

export interface ConnectionsOptions {
  url: string
  /** Most connections of this process. */
  maxConnections: number
}

export interface Connections {
  /** For Kysely. */
  pool: PostgresPool
  /** Runs one statement and resolves to its rows. */
  call<Row>(text: string, values: readonly unknown[]): Promise<Row[]>
  /** Runs text of several statements; no time limit but the server's own. */
  runScript(text: string): Promise<void>
  /** Disconnects; work under way is given a moment to end. */
  close(): Promise<void>
}

/** The server ends what takes longer. */
const STATEMENT_TIME_LIMIT_MS = 10_000
/**
 * A connection on which nothing came back by then leads to a server that is gone or hangs. Until then a late answer is still
 * heard; after it nobody knows what a server that goes on will have done: counted, or recorded, once too often.
 */
const SILENCE_LIMIT_MS = STATEMENT_TIME_LIMIT_MS + 2_000
/** For a free connection, or a new one. */
const CONNECT_TIME_LIMIT_MS = 2_000
/** After a refusal the next try waits: a server that is starting must not be knocked down at the door. */
const RETRY_AFTER_MS = 100
const CLOSE_TIME_LIMIT_MS = 2_000
const LIFETIME_SECONDS = 3_600

export function openConnections({ url, maxConnections }: ConnectionsOptions): Connections {
  const pool = new pg.Pool({
    connectionString: withLibpqMeaning(url),
    max: maxConnections,
    application_name: 'model-proxy',
    statement_timeout: STATEMENT_TIME_LIMIT_MS,
    connectionTimeoutMillis: CONNECT_TIME_LIMIT_MS,
    idleTimeoutMillis: 0,
    maxLifetimeSeconds: LIFETIME_SECONDS,
    keepAlive: true,
    types: { getTypeParser },
  })
  // Whoever uses the connection is told by the query that fails. Without a listener, a lost connection would end the process.
  pool.on('error', () => {})
  pool.on('connect', client => client.on('error', () => {}))
  const nameStatement = createStatementNames()
  let refused: { error: unknown; untilMs: number } | null = null

  async function take(): Promise<PoolClient> {
    if (refused && performance.now() < refused.untilMs) throw refused.error
    refused = null
    try {
      return await pool.connect()
    } catch (error) {
      // Without a code, it was the wait for one of many busy connections that took too long.
      if (hasCode(error)) refused = { error, untilMs: performance.now() + RETRY_AFTER_MS }
      throw error
    }
  }

  async function connect(): Promise<PostgresPoolClient> {
    const client = await take()
    let unusable = false
    const query = async (text: string, values: readonly unknown[]) => {
      const statement = { text, values: [...values], query_timeout: SILENCE_LIMIT_MS }
      try {
        return await client.query(values.length > 0 ? { ...statement, name: nameStatement(text) } : statement)
      } catch (error) {
        unusable = !isUsableAfter(error)
        throw error
      }
    }
    // Kysely's other form of query(), for cursors, has no user here.
    return { query: query as unknown as PostgresPoolClient['query'], release: () => client.release(unusable) }
  }

  async function call<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    const client = await connect()
    try {
      return (await client.query<Row>(text, values)).rows
    } finally {
      client.release()
    }
  }

  return {
    pool: { connect, end: () => pool.end(), options: pool.options },
    call,
    async runScript(text) {
      const client = await take()
      try {
        await client.query(text)
      } finally {
        // Whatever it set for its session goes with it.
        client.release(true)
      }
    },
    async close() {
      await Promise.race([pool.end(), Bun.sleep(CLOSE_TIME_LIMIT_MS)])
    },
  }
}

/** Ids and counters stay far below 2^53; a date has no time zone, and kept as text it cannot shift. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (format !== 'binary') {
    if (oid === pg.types.builtins.INT8) return Number
    if (oid === pg.types.builtins.DATE) return String
  }
  return pg.types.getTypeParser(oid, format)
}

/** A name makes the server parse and plan a statement once a connection. The product has a few dozen texts. */
function createStatementNames(): (text: string) => string {
  const names = new Map<string, string>()
  return text => {
    let name = names.get(text)
    if (name === undefined) {
      name = `mp${names.size}`
      names.set(text, name)
    }
    return name
  }
}

/** `sslmode` as psql understands it, who is given the same address. */
function withLibpqMeaning(url: string): string {
  const parsed = new URL(url)
  if (parsed.searchParams.has('sslmode')) parsed.searchParams.set('uselibpqcompat', 'true')
  return parsed.href
}

/** The server said what is wrong with the statement, and waits for the next; but one that it prepared may have gone stale. */
function isUsableAfter(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state !== null && state !== FEATURE_NOT_SUPPORTED && state !== INVALID_STATEMENT_NAME
}

/** "cached plan must not change result type": a deploy replaced what the statement calls. */
const FEATURE_NOT_SUPPORTED = '0A000'
const INVALID_STATEMENT_NAME = '26000'

function hasCode(error: unknown): boolean {
  return error instanceof Error && 'code' in error
}
