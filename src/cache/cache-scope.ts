/**
 * Sharing scopes. A scope decides who may share a cached response. It is part of the name of every exact and semantic entry, vector and call
 * in flight, so that entries of another scope are not found.
 */
import { endUserOf } from '../formats/end-user.ts'
import { type JsonObject, sha256 } from '../formats/json/canonical.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import type { NormalizedPrompt } from './text/normalize-prompt.ts'

export type CacheScope = ResolvedKey['cache_scope']

/** The scope of all project keys. */
const PROJECT_SCOPE = ''

/** Returns the scope within which a request shares responses. Under `user`, a request that names no user shares within its key. Test keys share with test keys. */
export function sharingScope(resolvedKey: ResolvedKey, body: JsonObject): string {
  const { cache_scope, key_id } = resolvedKey
  if (cache_scope === 'project') return encodeScope(resolvedKey)
  const user = cache_scope === 'user' ? endUserOf(body) : null
  return encodeScope(resolvedKey, cache_scope, user ?? key_id)
}

/** Returns the scope for other wordings. In a project-wide scope, a question about its end user is shared with the same end user only. */
export function semanticScope(resolvedKey: ResolvedKey, body: JsonObject, prompt: NormalizedPrompt): string {
  const isUserSpecific = canBeUserScoped(resolvedKey, body) && mayConcernEndUser(prompt)
  return isUserSpecific ? endUserScope(resolvedKey, body) : sharingScope(resolvedKey, body)
}

function endUserScope(resolvedKey: ResolvedKey, body: JsonObject): string {
  return encodeScope(resolvedKey, 'asker', endUserOf(body))
}

function encodeScope({ key_type }: ResolvedKey, ...parts: readonly (string | number | null)[]): string {
  if (key_type === 'test') return JSON.stringify(['test', ...parts])
  return parts.length === 0 ? PROJECT_SCOPE : JSON.stringify(parts)
}

/** Returns the scope of a verdict. Each namespace has its own. */
export function verdictScope(scope: string, namespace: string): string {
  return namespace === '' ? scope : JSON.stringify([scope, namespace])
}

/** Returns the hashes of the scopes in which the request's sender may give verdicts: those within which it shares responses. */
export function feedbackScopes(resolvedKey: ResolvedKey, body: JsonObject, namespace: string): string[] {
  const scopes = [sharingScope(resolvedKey, body)]
  if (canBeUserScoped(resolvedKey, body)) scopes.push(endUserScope(resolvedKey, body))
  return scopes.map(scope => hashScope(verdictScope(scope, namespace)))
}

/** Returns the scope's hex SHA-256. */
export function hashScope(scope: string): string {
  return sha256(`scope ${scope}`)
}

/** Returns whether a question about its end user would have a narrower scope than other questions. */
export function canBeUserScoped({ cache_scope }: ResolvedKey, body: JsonObject): boolean {
  return cache_scope === 'project' && endUserOf(body) !== null
}

/** Returns the hex SHA-256 of a hash within a scope. In the project scope, returns the hash itself. */
export function scopedHash(scope: string, hash: string): string {
  return scope === PROJECT_SCOPE ? hash : sha256(`within ${scope}\n${hash}`)
}

/** Returns a scope's name that is unique among projects. It keys in-memory caches, so that timing reveals texts within the scope only. */
export function scopeOwnerOf({
  resolvedKey,
  control,
}: {
  resolvedKey: Pick<ResolvedKey, 'project_id'>
  control: { sharingScope: string }
}) {
  return `${resolvedKey.project_id} ${control.sharingScope}`
}

/** Returns whether the view cache_rights allows the key this action, within its sharing scope. */
export function hasCachePermission(
  { cache_rights }: Pick<ResolvedKey, 'cache_rights'>,
  action: 'judge' | 'refresh',
): boolean {
  return cache_rights?.includes(action) === true
}

/** Returns the scope that applies to a request: `key` when the project's is `user` and the request names none. */
export function resolveCacheScope({ cache_scope }: ResolvedKey, body: JsonObject): CacheScope {
  return cache_scope === 'user' && endUserOf(body) === null ? 'key' : cache_scope
}

const firstPerson = /(?<![\p{L}\p{N}])(?:i|im|ive|me|my|mine|myself|we|us|our|ours|ourselves)(?![\p{L}\p{N}])/iu

/** Returns whether the text may be about its end user. A normalized question has no courtesy such as "tell me". Any other text may be. */
function mayConcernEndUser({ isProse, normalized }: NormalizedPrompt): boolean {
  return !isProse || firstPerson.test(normalized)
}
