/**
 * Who may share an answer. A partition is part of every name under which something is found again (exact and semantic entries, vectors, calls
 * in flight), so that what was stored in another one is not there.
 */
import { endUserOf } from '../formats/end-user.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import type { Account } from '../postgres/admit.ts'
import type { PromptReading } from './text/read-prompt.ts'

/** `user`: within a key, where a request names no user. */
export type CacheScope = Account['cache_scope']

/**
 * The part of the cache that a request reads and writes: its namespace, and in it those who may share. A namespace is printable and JSON has no
 * line feed, so that no client can name another's.
 */
export function partitionOf({ cache_scope, key_id }: Account, namespace: string, body: JsonObject): string {
  if (cache_scope === 'project') return namespace
  const user = cache_scope === 'user' ? endUserOf(body) : null
  return `${namespace}\n${JSON.stringify([cache_scope, user ?? key_id])}`
}

/** Who shares what a request is answered with. */
export function scopeOf({ cache_scope }: Account, body: JsonObject): CacheScope {
  return cache_scope === 'user' && endUserOf(body) === null ? 'key' : cache_scope
}

/**
 * What a question shares with others in other words: as above, but where everybody shares, a question about the asker is shared with the same
 * user alone. Null: no more than that.
 */
export function askerOf({ cache_scope }: Account, body: JsonObject, reading: PromptReading): string | null {
  if (cache_scope !== 'project' || !mayConcernAsker(reading)) return null
  return endUserOf(body)
}

const firstPerson = /(?<![\p{L}\p{N}])(?:i|im|ive|me|my|mine|myself|we|us|our|ours|ourselves)(?![\p{L}\p{N}])/iu

/** Courtesy ("tell me") is gone from a normalized question. Any other text, and any other language, may speak of its asker in ways of its own. */
function mayConcernAsker({ isProse, normalized }: PromptReading): boolean {
  return !isProse || firstPerson.test(normalized)
}
