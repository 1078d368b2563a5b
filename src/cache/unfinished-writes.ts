/**
 * Answers whose clients have them already, and PostgreSQL not yet: a process that is alone sends a plain response without waiting for the write, and
 * whoever asks what such a write could answer waits for it instead.
 */
import type { CacheQuery, SemanticQuery } from './cache-query.ts'

export class UnfinishedWrites {
  readonly #byName = new Map<string, Promise<void>>()

  /** `written` must not reject. */
  add(query: CacheQuery, written: Promise<void>): void {
    const names = namesOf(query)
    for (const name of names) this.#byName.set(name, written)
    void written.then(() => {
      for (const name of names) if (this.#byName.get(name) === written) this.#byName.delete(name)
    })
  }

  /**
   * Resolves when what a lookup might find is written; null when nothing like it is being written. With an anchor, prompts of other anchors are
   * not compared, so their writes are not waited for.
   */
  before(
    { exactKey, account }: CacheQuery,
    semantic: (Pick<SemanticQuery, 'contextHash'> & { anchorHash: string | null }) | null,
  ): Promise<void> | null {
    if (this.#byName.size === 0) return null
    const same = this.#byName.get(exactKey)
    if (same || !semantic) return same ?? null
    return this.#byName.get(nameOf(account.project_id, semantic.contextHash, semantic.anchorHash)) ?? null
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
