/**
 * Answers whose clients have them already, and PostgreSQL not yet, or not yet their vectors: the only process sends a plain response without
 * waiting for the write, and whoever asks what such a write could answer waits for it instead.
 */
import { createSharedTimeout } from '../event-loop/timeouts.ts'
import type { CacheQuery, SemanticQuery } from './cache-query.ts'
import type { PendingWrite } from './response-writer.ts'

/** Then what is stored by then is looked at all the same. */
const LONGEST_WAIT_MS = 400

/** What a lookup looks for: prompts of its normalized text, of its anchor, or of its whole group. */
export type PendingWriteTarget = Pick<SemanticQuery, 'contextHash' | 'normalizedHash'> & { anchorHash?: string | null }

export class PendingWrites {
  /** Each name's writes under way, together: those that began later are not waited for, since in a busy group there are always some. */
  readonly #byName = new Map<string, Promise<void>>()
  readonly #withinLimit = createSharedTimeout(LONGEST_WAIT_MS)

  /** Neither must reject. */
  add(query: CacheQuery, { stored, vectorStored }: PendingWrite): void {
    this.#note(query.exactKey, stored)
    const semantic = query.semantic()
    if (typeof semantic === 'string') return
    this.#note(nameOfText(query, semantic), stored)
    this.#note(nameOfGroup(query, { ...semantic, anchorHash: null }), vectorStored)
    this.#note(nameOfGroup(query, semantic), vectorStored)
  }

  /**
   * Resolves when what a lookup might find is written, or the time is up; null when nothing like it is being written. With an anchor, prompts of
   * other anchors are not compared, so their writes are not waited for. By name, no vectors are compared, and none is waited for.
   */
  waitFor(query: CacheQuery, sought: PendingWriteTarget | null, by: 'name' | 'vector'): Promise<void> | null {
    if (this.#byName.size === 0) return null
    const name = sought && (by === 'name' ? nameOfText : nameOfGroup)(query, sought)
    const writing = this.#byName.get(query.exactKey) ?? (name === null ? undefined : this.#byName.get(name))
    return writing ? this.#withinLimit(writing).catch(() => {}) : null
  }

  /** Whether something is being written that a vector would be compared with. */
  isWriting(query: CacheQuery, sought: PendingWriteTarget): boolean {
    return this.#byName.has(nameOfGroup(query, sought))
  }

  #note(name: string, written: Promise<void>): void {
    const all = Promise.all([this.#byName.get(name), written]).then(() => {
      if (this.#byName.get(name) === all) this.#byName.delete(name)
    })
    this.#byName.set(name, all)
  }
}

const nameOfText = ({ resolvedKey }: CacheQuery, { contextHash, normalizedHash }: PendingWriteTarget) =>
  `${resolvedKey.project_id} ${contextHash} =${normalizedHash}`

const nameOfGroup = ({ resolvedKey }: CacheQuery, { contextHash, anchorHash }: PendingWriteTarget) =>
  `${resolvedKey.project_id} ${contextHash} ${anchorHash ?? ''}`
