/**
 * Who may share an answer: a circle is in every name under which something is found again (exact and semantic entries, vectors, calls in flight),
 * so that what another one stored is not there.
 */
import { endUserOf } from '../formats/end-user.ts'
import { type JsonObject, sha256 } from '../formats/json/canonical.ts'
import type { Account } from '../postgres/admit.ts'
import type { PromptReading } from './text/read-prompt.ts'

export type CacheScope = Account['cache_scope']

/** All in the project. */
const EVERYBODY = ''

/** With whom a request shares what it is answered with. A user who is not named shares within the key. */
export function circleOf({ cache_scope, key_id }: Account, body: JsonObject): string {
  if (cache_scope === 'project') return EVERYBODY
  const user = cache_scope === 'user' ? endUserOf(body) : null
  return JSON.stringify([cache_scope, user ?? key_id])
}

/** With whom it shares in other words: where all do, a question about its asker is shared with the same user alone. */
export function askersCircleOf(account: Account, body: JsonObject, reading: PromptReading): string {
  const isAskers = mayHaveAsker(account, body) && mayConcernAsker(reading)
  return isAskers ? JSON.stringify(['asker', endUserOf(body)]) : circleOf(account, body)
}

/** Whether a question about its asker would be shared with fewer than others are. */
export function mayHaveAsker({ cache_scope }: Account, body: JsonObject): boolean {
  return cache_scope === 'project' && endUserOf(body) !== null
}

/** A hash of what is asked, in hex, as it is named within a circle: hex SHA-256, too. */
export function nameWithin(circle: string, hash: string): string {
  return circle === EVERYBODY ? hash : sha256(`within ${circle}\n${hash}`)
}

/** Those who share answers, over all projects: only they may notice, by the time that it takes, that a text was asked before. */
export function ownerOf({ account, control }: { account: Pick<Account, 'project_id'>; control: { circle: string } }) {
  return `${account.project_id} ${control.circle}`
}

/** Of an answer from the cache, who shares it. */
export function scopeOf({ cache_scope }: Account, body: JsonObject): CacheScope {
  return cache_scope === 'user' && endUserOf(body) === null ? 'key' : cache_scope
}

const firstPerson = /(?<![\p{L}\p{N}])(?:i|im|ive|me|my|mine|myself|we|us|our|ours|ourselves)(?![\p{L}\p{N}])/iu

/** Courtesy ("tell me") is gone from a normalized question. Any other text, and any other language, may speak of its asker in ways of its own. */
function mayConcernAsker({ isProse, normalized }: PromptReading): boolean {
  return !isProse || firstPerson.test(normalized)
}
