/**
 * Tracks responses that were sent to their clients and are not in PostgreSQL yet, or without their vectors. A single process sends a plain
 * response without waiting for its write. A lookup that the write could match waits for it instead.
 */
import { createSharedTimeout } from '../event-loop/timeouts.ts'
import type { CacheQuery, SemanticQuery } from './cache-query.ts'
import type { PendingWrite } from './response-writer.ts'

/** Longest time a lookup waits for writes. Then it searches what is stored. */
const MAX_WAIT_MS = 400
/** A lookup waits for the writes with one of its two rarest topic words. Other matches are rare, and every process has some write with a frequent word. */
const MAX_AWAITED_WORDS = 2

/** The prompts that a lookup compares: those with its normalized text, with its rarest topic words, or all of its context. */
export type PendingWriteTarget = Pick<SemanticQuery, 'contextHash' | 'normalizedHash'> & {
  topicWords?: readonly number[] | null
}

export class PendingWrites {
  /** The writes in flight of each name. A lookup does not wait for writes that begin later, because a busy group always has some. */
  readonly #byName = new Map<string, Promise<void>>()
  readonly #withTimeout = createSharedTimeout(MAX_WAIT_MS)

  /** Adds a write, whose promises must not reject. */
  add(query: CacheQuery, { stored, vectorStored }: PendingWrite): void {
    this.#track(query.exactKey, stored)
    const semantic = query.semantic()
    if (typeof semantic === 'string') return
    this.#track(textNameOf(query, semantic), stored)
    for (const topicWords of [null, semantic.topicWords])
      for (const name of groupNamesOf(query, { ...semantic, topicWords })) this.#track(name, vectorStored)
  }

  /**
   * Resolves when the writes that a lookup may match are done, or at the time limit. Null when there are none. By name, it does not wait
   * for vectors.
   */
  waitFor(query: CacheQuery, target: PendingWriteTarget | null, by: 'name' | 'vector'): Promise<void> | null {
    if (this.#byName.size === 0) return null
    const names = [query.exactKey]
    if (target) names.push(textNameOf(query, target))
    if (target && by === 'vector') names.push(...groupNamesOf(query, target))
    const writing = names.flatMap(name => this.#byName.get(name) ?? [])
    return writing.length > 0 ? this.#withTimeout(Promise.all(writing)).then(noop, noop) : null
  }

  /** Returns whether a prompt is being written that a vector would be compared with. */
  isWriting(query: CacheQuery, target: PendingWriteTarget): boolean {
    return groupNamesOf(query, target).some(name => this.#byName.has(name))
  }

  #track(name: string, written: Promise<void>): void {
    const all = Promise.all([this.#byName.get(name), written]).then(() => {
      if (this.#byName.get(name) === all) this.#byName.delete(name)
    })
    this.#byName.set(name, all)
  }
}

const noop = () => {}

const textNameOf = ({ resolvedKey }: CacheQuery, { contextHash, normalizedHash }: PendingWriteTarget) =>
  `${resolvedKey.project_id} ${contextHash} =${normalizedHash}`

/** Returns the names of the group's prompts with a rare topic word of the target; without topic words, the name of the group. */
function groupNamesOf({ resolvedKey }: CacheQuery, { contextHash, topicWords }: PendingWriteTarget): string[] {
  const group = `${resolvedKey.project_id} ${contextHash}`
  return topicWords ? topicWords.slice(0, MAX_AWAITED_WORDS).map(word => `${group} ${word}`) : [group]
}
