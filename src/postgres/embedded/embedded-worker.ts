/** The worker thread with the PGlite instance. It runs the server's queries and the messages of psql sessions. */
import { chmod, exists, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { dataDir as readEmptyCluster } from '@electric-sql/pglite-prepopulatedfs'
import { isCompiledBinary } from '../../event-loop/self-command.ts'
import { SCHEMA_NAME } from '../schema-name.ts'
import { findSettingMismatches, REQUIRED_SETTINGS } from '../session-settings.ts'
import type {
  EmbeddedReply,
  EmbeddedRequest,
  EmbeddedStartOptions,
  PsqlEvent,
  PsqlRequest,
} from './embedded-protocol.ts'
import { createPsqlSessions, type PsqlSessions } from './psql-sessions.ts'
import { createSessionLock } from './session-lock.ts'

declare const self: Worker

/**
 * The time that a statement waits for the session lock. The embedded database has one session, and a statement of the proxy must not run
 * within a psql session's transaction, because it would be rolled back with it. Callers have shorter limits of their own.
 */
const LOCK_WAIT_MS = 60_000
/** A killed process loses at most the asynchronous commits of this time: counters and records. */
const FLUSH_EVERY_MS = 500
/**
 * The maximum number of open table files. By default, PostgreSQL opens up to 1000, or all descriptors of the process but ten, and leaves none
 * for clients. With this minimum, a request reopens one or two files, each in a few microseconds.
 */
const OPEN_FILES = 64
/** PostgreSQL's default of 128 MB is written as a whole at the start. Of a table of 100 MB, lookups and scans take as long with this. */
const SHARED_BUFFERS = '32MB'

/**
 * Flushes asynchronous commits. A single-user PostgreSQL has no background process that writes them, so they would wait for a checkpoint. A
 * synchronous message flushes the whole log before it.
 */
const FLUSH = `
select set_config('synchronous_commit', 'on', true), pg_logical_emit_message(true, 'flush', '')
 where pg_current_wal_insert_lsn() > pg_current_wal_flush_lsn()`

const sessionLock = createSessionLock()
let db: PGlite | undefined
let sessions: PsqlSessions | undefined
let hasWritten = false

self.onmessage = async ({ data }: MessageEvent<PsqlRequest | (EmbeddedRequest & { id: number })>) => {
  if (!('id' in data)) return sessions?.handle(data)
  const reply = await handleRequest(data).catch(describeError)
  self.postMessage({ ...reply, id: data.id } satisfies EmbeddedReply)
}

async function handleRequest(request: EmbeddedRequest): Promise<Omit<EmbeddedReply, 'id'>> {
  if (request.kind === 'start') return await start(request.start)
  if (!db) throw new Error('the embedded database has not started')
  if (request.kind === 'close') return await close(db)
  const releaseLock = await sessionLock.acquire({ limitMs: LOCK_WAIT_MS })
  try {
    hasWritten = true
    return await run(db, request)
  } finally {
    releaseLock()
  }
}

async function run(
  database: PGlite,
  request: Exclude<EmbeddedRequest, { kind: 'start' | 'close' }>,
): Promise<Omit<EmbeddedReply, 'id'>> {
  switch (request.kind) {
    case 'query':
      return { rows: (await database.query(request.sql, [...request.params])).rows }
    case 'script':
      await database.exec(request.sql)
      return {}
    case 'scripts':
      return await runScripts(database, request.texts)
    case 'dump':
      return { dump: await database.dumpDataDir('none') }
  }
}

async function runScripts(database: PGlite, texts: readonly string[]): Promise<Omit<EmbeddedReply, 'id'>> {
  let script = -1
  try {
    await database.transaction(async transaction => {
      for (const text of texts) {
        script++
        await transaction.exec(text)
      }
    })
    return {}
  } catch (error) {
    return { error: { ...describeError(error).error, script } }
  }
}

async function close(database: PGlite): Promise<Omit<EmbeddedReply, 'id'>> {
  await sessions?.close()
  await database.close()
  db = undefined
  return {}
}

async function start({
  directory,
  template,
  schema = SCHEMA_NAME,
}: EmbeddedStartOptions): Promise<Omit<EmbeddedReply, 'id'>> {
  const isNew = directory === null || !(await exists(join(directory, 'PG_VERSION')))
  const files = isNew ? (template ?? (await readCluster())) : undefined
  if (files && directory !== null) await unpackFiles(files, directory)
  const database = await withVectorOnDisk(async extension =>
    PGlite.create({
      ...(directory === null ? {} : { dataDir: directory }),
      ...(files && directory === null ? { loadDataDir: files } : {}),
      extensions: { vector: extension },
      // The same as on a server: ids and counters stay far below 2^53, and a date has no time zone and stays text.
      parsers: { 20: Number, 1082: text => text },
      relaxedDurability: false,
      startParams: [
        ...PGlite.defaultStartParams,
        ...['-c', `shared_buffers=${SHARED_BUFFERS}`],
        ...['-c', `max_files_per_process=${OPEN_FILES}`],
        // The search path for psql. The database has no other schemas.
        ...['-c', `search_path=${schema}, public`],
      ],
    }),
  )
  // Disables COPY … PROGRAM, so that no statement can start a program or read PGlite's buffer for one.
  database.handleExternalCmd = () => 0
  const emit = (event: PsqlEvent) => self.postMessage(event)
  const reapplySettings = await applySessionSettings(database)
  sessions = createPsqlSessions({
    db: database,
    sessionLock,
    emit,
    flush: () => flush(database),
    reapplySettings,
  })
  if (directory !== null) setInterval(flushUnderLock, FLUSH_EVERY_MS, database)
  db = database
  return {}
}

const READ_SETTINGS =
  'select name, current_setting(name, true) as value from json_array_elements_text($1::json) as name'
const SET_SETTINGS =
  'select set_config(s.name, s.required, false) from json_to_recordset($1::json) as s (name text, required text)'

/**
 * Sets the required settings of the proxy's session, because a role or a database may have changed them. Returns a function that sets them
 * again, to call after a psql session's settings were reset.
 */
async function applySessionSettings(db: PGlite): Promise<() => Promise<void>> {
  const { rows } = await db.query<{ name: string; value: string | null }>(READ_SETTINGS, [
    JSON.stringify(REQUIRED_SETTINGS),
  ])
  const mismatches = findSettingMismatches(Object.fromEntries(rows.map(({ name, value }) => [name, value])))
    // PGlite sets client_encoding itself.
    .filter(({ name }) => name !== 'client_encoding')
  const reapplySettings = async () => {
    if (mismatches.length > 0) await db.query(SET_SETTINGS, [JSON.stringify(mismatches)])
  }
  await reapplySettings()
  return reapplySettings
}

/** Reads the files of an empty cluster as a tar archive: running initdb takes four times as long as unpacking one. In a compiled binary, zstd has packed them instead of gzip (scripts/build-binary.ts). */
async function readCluster(): Promise<Blob> {
  const archive = await readEmptyCluster()
  return isCompiledBinary ? new Blob([await Bun.zstdDecompress(await archive.arrayBuffer())]) : archive
}

/** Copies the extension to a temporary file. PGlite reads it as a stream, and Bun cannot stream files packed into an executable. */
async function withVectorOnDisk<T>(use: (extension: typeof vector) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'model-proxy-'))
  try {
    const copy = join(folder, 'vector.tar.gz')
    return await use({
      ...vector,
      async setup(...given) {
        const { bundlePath, ...rest } = await vector.setup(...given)
        if (bundlePath) await writeFile(copy, await readFile(bundlePath))
        return { ...rest, bundlePath: pathToFileURL(copy) }
      },
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Flushes asynchronous commits. The caller must hold the session lock. */
async function flush(database: PGlite): Promise<void> {
  if (!hasWritten) return
  hasWritten = false
  await database.query(FLUSH)
}

async function flushUnderLock(database: PGlite): Promise<void> {
  if (!hasWritten || db === undefined) return
  const releaseLock = await sessionLock.acquire({ limitMs: Number.POSITIVE_INFINITY, isUrgent: true })
  try {
    if (db !== undefined) await flush(database)
  } catch {
    // The next flush retries.
    hasWritten = true
  } finally {
    releaseLock()
  }
}

/** Unpacks a cluster's files, which only their owner may read. A start that is killed meanwhile leaves no `directory` behind. */
async function unpackFiles(archive: Blob, directory: string): Promise<void> {
  const unfinished = `${directory}.unpacking`
  await rm(unfinished, { recursive: true, force: true })
  await new Bun.Archive(archive).extract(unfinished)
  const entries = await readdir(unfinished, { recursive: true, withFileTypes: true })
  await Promise.all(
    entries.map(entry => chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600)),
  )
  await rename(unfinished, directory)
}

function describeError(error: unknown) {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : null
  return { error: { message: error instanceof Error ? error.message : String(error), code } }
}
