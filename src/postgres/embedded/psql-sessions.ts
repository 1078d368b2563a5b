/** The open psql sessions on the embedded database. It forwards messages to each, in order. */
import type { PGlite } from '@electric-sql/pglite'
import { sqlStateOf } from '../database.ts'
import type { PsqlEvent, PsqlRequest } from './embedded-protocol.ts'
import { encodeFatalError } from './psql-frames.ts'
import { PsqlSession } from './psql-session.ts'
import type { SessionLock } from './session-lock.ts'

export interface PsqlSessions {
  handle(request: PsqlRequest): void
  /** Ends all sessions, and rolls back open transactions. */
  close(): Promise<void>
}

export interface PsqlSessionsOptions {
  db: PGlite
  sessionLock: SessionLock
  emit(event: PsqlEvent): void
  /** Flushes asynchronous commits to disk. */
  flush(): Promise<void>
  /** Sets the settings of the proxy's session again. */
  reapplySettings(): Promise<void>
}

interface OpenSession {
  session: PsqlSession
  work: Promise<void>
}

export function createPsqlSessions({
  db,
  sessionLock,
  emit,
  flush,
  reapplySettings,
}: PsqlSessionsOptions): PsqlSessions {
  const open = new Map<number, OpenSession>()

  function start(id: number): OpenSession {
    const send = (bytes: Uint8Array) => emit({ kind: 'psql-bytes', session: id, bytes })
    const session = new PsqlSession({
      db,
      sessionLock,
      send,
      flush,
      reapplySettings,
      onBusyChange: runs => emit({ kind: 'psql-runs', runs }),
      onLockTimeout: () => void end(id),
    })
    const started = { session, work: Promise.resolve() }
    open.set(id, started)
    return started
  }

  function end(id: number): Promise<void> {
    const ending = open.get(id)
    if (!ending) return Promise.resolve()
    open.delete(id)
    return ending.work.then(() => ending.session.end()).finally(() => emit({ kind: 'psql-ended', session: id }))
  }

  function run(id: number, { session, work }: OpenSession, step: () => Promise<'open' | 'ended'>): Promise<void> {
    return work.then(step).then(
      outcome => {
        if (outcome === 'ended') void end(id)
      },
      error => {
        const message = error instanceof Error ? error.message : String(error)
        emit({ kind: 'psql-bytes', session: id, bytes: encodeFatalError(sqlStateOf(error) ?? '08P01', message) })
        void session.end().finally(() => end(id))
      },
    )
  }

  return {
    handle(request) {
      const { session: id } = request
      if (request.kind === 'psql-end') return void end(id)
      const found = request.kind === 'psql-open' ? start(id) : open.get(id)
      if (!found) return
      found.work = run(id, found, () =>
        request.kind === 'psql-open'
          ? found.session.open(request.bytes)
          : found.session.handle(request.type, request.bytes),
      )
    },
    async close() {
      await Promise.all([...open.keys()].map(end))
    },
  }
}
