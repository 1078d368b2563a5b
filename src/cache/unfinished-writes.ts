/**
 * Answers whose clients have them already, and PostgreSQL not yet: the only process sends a plain response without waiting for the write, and
 * whoever asks what such a write could answer waits for it instead.
 */
import { createTimeLimit } from '../event-loop/time-limit.ts'
import type { CacheQuery, SemanticQuery } from './cache-query.ts'

/** Then what is stored by then is looked at all the same. */
const LONGEST_WAIT_MS = 400

export class UnfinishedWrites {
  /** Each name's writes under way, together: those that began later are not waited for, since in a busy group there are always some. */
  readonly #byName = new Map<string, Promise<void>>()
  readonly #withinLimit = createTimeLimit(LONGEST_WAIT_MS)

  /** `written` must not reject. */
  add(query: CacheQuery, written: Promise<void>): void {
    for (const name of namesOf(query)) {
      const all = Promise.all([this.#byName.get(name), written]).then(() => {
        if (this.#byName.get(name) === all) this.#byName.delete(name)
      })
      this.#byName.set(name, all)
    }
  }

  /**
   * Resolves when what a lookup might find is written, or the time is up; null when nothing like it is being written. With an anchor, prompts of
   * other anchors are not compared, so their writes are not waited for.
   */
  before(
    { exactKey, account }: CacheQuery,
    semantic: (Pick<SemanticQuery, 'contextHash'> & { anchorHash: string | null }) | null,
  ): Promise<void> | null {
    if (this.#byName.size === 0) return null
    const group = semantic && nameOf(account.project_id, semantic.contextHash, semantic.anchorHash)
    const writing = this.#byName.get(exactKey) ?? (group === null ? undefined : this.#byName.get(group))
    return writing ? this.#withinLimit(writing).catch(() => {}) : null
  }
}

function namesOf(query: CacheQuery): string[] {
  const { exactKey, account } = query
  const semantic = query.semantic()
  if (typeof semantic === 'string') return [exactKey]
  const { contextHash, anchorHash } = semantic
  return [exactKey, nameOf(account.project_id, contextHash, null), nameOf(account.project_id, contextHash, anchorHash)]
}

const nameOf = (projectId: number, contextHash: string, anchorHash: string | null) =>
  `${projectId} ${contextHash} ${anchorHash ?? ''}`
