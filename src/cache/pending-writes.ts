/**
 * Tracks responses that were sent to their clients and are not in PostgreSQL yet, or without their vectors. A single process sends a plain
 * response without waiting for its write. A lookup that the write could match waits for it instead.
 */
import { createSharedTimeout } from '../event-loop/timeouts.ts'
import type { CacheQuery, SemanticQuery } from './cache-query.ts'
import type { PendingWrite } from './response-writer.ts'

/** The prompts that a lookup compares: those with its normalized text, with its topic words, or the newest of its context too. */
export type PendingWriteTarget = Pick<SemanticQuery, 'contextHash' | 'normalizedHash'> & {
  topicWords?: readonly number[]
  comparesNewest?: boolean
}

export class PendingWrites {
  /** The writes in flight of each name. A lookup does not wait for writes that begin later, because a busy group always has some. */
  readonly #byName = new Map<string, Promise<void>>()
  readonly #withTimeout: ReturnType<typeof createSharedTimeout>

  /** A lookup waits for writes no longer than `maxWaitMs`. Then it searches what is stored. */
  constructor(maxWaitMs: number) {
    this.#withTimeout = createSharedTimeout(maxWaitMs)
  }

  /** Adds a write, whose promises must not reject. */
  add(query: CacheQuery, { stored, vectorStored }: PendingWrite): void {
    this.#track(query.exactKey, stored)
    const semantic = query.semantic()
    if (typeof semantic === 'string') return
    this.#track(textNameOf(query, semantic), stored)
    this.#track(groupNameOf(query, { ...semantic, comparesNewest: true }), vectorStored)
    this.#track(groupNameOf(query, semantic), vectorStored)
  }

  /**
   * Resolves when the writes that a lookup may match are done, or at the time limit. Null when there are none. By topic words, it
   * waits for prompts with the same rarest word only: nearly always, some write has a more frequent one. By name, it does not wait for vectors.
   */
  waitFor(query: CacheQuery, target: PendingWriteTarget | null, by: 'name' | 'vector'): Promise<void> | null {
    if (this.#byName.size === 0) return null
    const name = target && (by === 'name' ? textNameOf : groupNameOf)(query, target)
    const writing = this.#byName.get(query.exactKey) ?? (name === null ? undefined : this.#byName.get(name))
    return writing ? this.#withTimeout(writing).catch(() => {}) : null
  }

  /** Returns whether a prompt is being written that a vector would be compared with. */
  isWriting(query: CacheQuery, target: PendingWriteTarget): boolean {
    return this.#byName.has(groupNameOf(query, target))
  }

  #track(name: string, written: Promise<void>): void {
    const all = Promise.all([this.#byName.get(name), written]).then(() => {
      if (this.#byName.get(name) === all) this.#byName.delete(name)
    })
    this.#byName.set(name, all)
  }
}

const textNameOf = ({ resolvedKey }: CacheQuery, { contextHash, normalizedHash }: PendingWriteTarget) =>
  `${resolvedKey.project_id} ${contextHash} =${normalizedHash}`

const groupNameOf = (
  { resolvedKey }: CacheQuery,
  { contextHash, topicWords = [], comparesNewest = false }: PendingWriteTarget,
) => `${resolvedKey.project_id} ${contextHash} ${comparesNewest ? '' : (topicWords[0] ?? 'no word')}`
