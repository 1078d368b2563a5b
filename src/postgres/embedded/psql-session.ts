/** One psql session on the embedded database: takes a turn for each statement, and keeps it during a transaction. */
import type { PGlite } from '@electric-sql/pglite'
import { encodeCopyFail, encodeFatalError, SYNC_MESSAGE } from './psql-frames.ts'
import { PsqlSessionLock, type PsqlSessionLockOptions } from './psql-session-lock.ts'

export interface PsqlSessionOptions extends PsqlSessionLockOptions {
  send(bytes: Uint8Array): void
  /** Called before and after the database works for this session. */
  onBusyChange(runs: boolean): void
  /** Called when the session kept others waiting too long; its transaction must be ended. */
  onLockTimeout(): void
}

/** PGlite reads a message completely before it replies, so rows that would follow a COPY's reply cannot be received. */
const COPY_FAIL = encodeCopyFail('not available on the embedded database; use INSERT')

export class PsqlSession {
  readonly #db: PGlite
  readonly #options: PsqlSessionOptions
  readonly #turn: PsqlSessionLock
  /** Messages that PostgreSQL answers only after a later Sync, Flush or Query. */
  #unanswered: Uint8Array[] = []
  /** The client has sent Flush, but no Sync yet. */
  #isUnsynced = false
  #ended: Promise<void> | null = null

  constructor(options: PsqlSessionOptions) {
    this.#db = options.db
    this.#options = options
    this.#turn = new PsqlSessionLock({ ...options, onLockTimeout: () => this.#tellOverstay() })
  }

  /** Starts the session with PostgreSQL's startup message. */
  async open(startup: Uint8Array): Promise<'open' | 'ended'> {
    if (this.#ended) return 'ended'
    await this.#runTogether([startup])
    return 'open'
  }

  /** Handles one message. Rejects when the session cannot continue. */
  async handle(type: string, bytes: Uint8Array): Promise<'open' | 'ended'> {
    if (this.#ended) return 'ended'
    switch (type) {
      case 'X':
        return 'ended'
      // Rows for a COPY that was refused.
      case 'd':
      case 'c':
      case 'f':
        return 'open'
      case 'P':
      case 'B':
      case 'D':
      case 'E':
      case 'C':
        this.#unanswered.push(bytes)
        return 'open'
      case 'H':
      case 'S':
      case 'Q':
      case 'F': {
        this.#isUnsynced = type === 'H'
        const messages = [...this.#unanswered, bytes, COPY_FAIL]
        this.#unanswered = []
        await this.#runTogether(messages)
        return 'open'
      }
      default:
        throw new Error(`invalid frontend message type ${type.charCodeAt(0)}`)
    }
  }

  /** Rolls back an open transaction and discards the session's state. Later calls wait for the first. */
  end(): Promise<void> {
    this.#ended ??= this.#turn.releaseAfter(async () => {
      if (this.#isUnsynced) await this.#run(SYNC_MESSAGE, () => {})
      if (this.#db.isInTransaction()) await this.#db.exec('rollback')
      await this.#db.exec('discard all')
      await this.#options.reapplySettings()
    })
    return this.#ended
  }

  /** Runs messages up to one that PostgreSQL answers, so that no other session's messages come in between. */
  async #runTogether(messages: Uint8Array[]): Promise<void> {
    const { send, onBusyChange } = this.#options
    await this.#turn.acquire()
    onBusyChange(true)
    try {
      const isReady = await this.#run(Buffer.concat(messages), send)
      // A refused COPY swallows the Sync after it.
      if (!isReady && !this.#isUnsynced) await this.#run(SYNC_MESSAGE, send)
    } finally {
      onBusyChange(false)
    }
    if (this.#isUnsynced || this.#db.isInTransaction()) this.#turn.hold()
    else await this.#turn.release()
  }

  /** Resolves to whether PostgreSQL reported at the end that it is ready for more. */
  async #run(bytes: Uint8Array, onData: (bytes: Uint8Array) => void): Promise<boolean> {
    let tail: Uint8Array = Buffer.alloc(0)
    await this.#db.execProtocolRawStream(bytes, {
      onRawData(data) {
        // A copy, because the bytes are PGlite's own memory, valid during this call only.
        const copy = Buffer.from(data)
        tail = Buffer.concat([tail, copy]).subarray(-6)
        onData(copy)
      },
    })
    return tail.length === 6 && tail[0] === 'Z'.charCodeAt(0)
  }

  #tellOverstay(): void {
    const { send, onLockTimeout } = this.#options
    send(encodeFatalError('25P03', 'terminating connection: its open transaction keeps the proxy waiting'))
    onLockTimeout()
  }
}
