/**
 * Sharing scopes: who may share a cached response. The scope is part of every name under which something is found again (exact and semantic
 * entries, vectors, calls in flight), so that what was stored in another scope is not found.
 */
import { endUserOf } from '../formats/end-user.ts'
import { type JsonObject, sha256 } from '../formats/json/canonical.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import type { NormalizedPrompt } from './text/normalize-prompt.ts'

export type CacheScope = ResolvedKey['cache_scope']

/** All project keys of the project. */
const WHOLE_PROJECT = ''

/** The scope within which a request shares responses. A request that names no user shares within its key. Test keys share with test keys. */
export function sharingScope(resolvedKey: ResolvedKey, body: JsonObject): string {
  const { cache_scope, key_id } = resolvedKey
  if (cache_scope === 'project') return nameScope(resolvedKey)
  const user = cache_scope === 'user' ? endUserOf(body) : null
  return nameScope(resolvedKey, cache_scope, user ?? key_id)
}

/** The scope for other wordings: where the project shares, a question about its asker is shared with the same user only. */
export function semanticScope(resolvedKey: ResolvedKey, body: JsonObject, reading: NormalizedPrompt): string {
  const isAskers = canBeUserScoped(resolvedKey, body) && mayConcernAsker(reading)
  return isAskers ? askerScope(resolvedKey, body) : sharingScope(resolvedKey, body)
}

function askerScope(resolvedKey: ResolvedKey, body: JsonObject): string {
  return nameScope(resolvedKey, 'asker', endUserOf(body))
}

function nameScope({ key_type }: ResolvedKey, ...parts: readonly (string | number | null)[]): string {
  if (key_type === 'test') return JSON.stringify(['test', ...parts])
  return parts.length === 0 ? WHOLE_PROJECT : JSON.stringify(parts)
}

/** The scope of a verdict: a namespace has its own. */
export function verdictScope(scope: string, namespace: string): string {
  return namespace === '' ? scope : JSON.stringify([scope, namespace])
}

/** Hashes of the scopes whose hits the sender of this request may judge: those within which it would share responses itself. */
export function feedbackScopes(resolvedKey: ResolvedKey, body: JsonObject, namespace: string): string[] {
  const scopes = [sharingScope(resolvedKey, body)]
  if (canBeUserScoped(resolvedKey, body)) scopes.push(askerScope(resolvedKey, body))
  return scopes.map(scope => hashScope(verdictScope(scope, namespace)))
}

/** Hex SHA-256. */
export function hashScope(scope: string): string {
  return sha256(`scope ${scope}`)
}

/** Whether a question about its asker would be shared with fewer than others are. */
export function canBeUserScoped({ cache_scope }: ResolvedKey, body: JsonObject): boolean {
  return cache_scope === 'project' && endUserOf(body) !== null
}

/** The name of a hash, in hex, within a scope: hex SHA-256, too. */
export function scopedHash(scope: string, hash: string): string {
  return scope === WHOLE_PROJECT ? hash : sha256(`within ${scope}\n${hash}`)
}

/** Names a scope among those of all projects: only within it may times tell that a text was sent before. */
export function scopeOwnerOf({
  resolvedKey,
  control,
}: {
  resolvedKey: Pick<ResolvedKey, 'project_id'>
  control: { sharingScope: string }
}) {
  return `${resolvedKey.project_id} ${control.sharingScope}`
}

/** Whether the view cache_rights lets the request's key do so, within its sharing scope. */
export function hasCachePermission(
  { cache_rights }: Pick<ResolvedKey, 'cache_rights'>,
  action: 'judge' | 'refresh',
): boolean {
  return cache_rights?.includes(action) === true
}

/** Of a response from the cache, who shares it. */
export function resolveCacheScope({ cache_scope }: ResolvedKey, body: JsonObject): CacheScope {
  return cache_scope === 'user' && endUserOf(body) === null ? 'key' : cache_scope
}

const firstPerson = /(?<![\p{L}\p{N}])(?:i|im|ive|me|my|mine|myself|we|us|our|ours|ourselves)(?![\p{L}\p{N}])/iu

/** Courtesy ("tell me") is gone from a normalized question. Any other text, and any other language, may speak of its asker in ways of its own. */
function mayConcernAsker({ isProse, normalized }: NormalizedPrompt): boolean {
  return !isProse || firstPerson.test(normalized)
}
