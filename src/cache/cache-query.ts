/** The cache query of a request: its hash and, if it may be matched semantically, its text. */

import { canonicalizeBody, type JsonObject, sha256 } from '../formats/json/canonical.ts'
import { ECHOED_FIELDS } from '../formats/responses/echoed-fields.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import { entryName, sharedCallName } from '../stores/fast-store.ts'
import type { InternalCallTrace } from '../telemetry/tracing/request-trace.ts'
import type { CacheControl } from './cache-control.ts'
import { canBeUserScoped, scopedHash, scopeOwnerOf, semanticScope, verdictScope } from './cache-scope.ts'
import { classifyPromptContext, extractPromptText, type PromptText } from './prompt-text.ts'
import type { MissReason } from './reasons.ts'
import { type NormalizedPrompt, normalizePrompt } from './text/normalize-prompt.ts'
import { topicWordsOf } from './text/topic-words.ts'
import { findBypassReason } from './verify/bypass.ts'
import { isPlainQuestion, type SemanticRisk } from './verify/verify.ts'

export interface CacheQuery {
  resolvedKey: ResolvedKey
  control: CacheControl
  identity: RequestIdentity
  /** Hex SHA-256 of the whole request, within its sharing scope. */
  requestHash: string
  /** Identifies equal requests, whoever sends them. */
  askedId: string
  /** Name of the exact cache entry in the fast store. */
  exactKey: string
  /** Name under which identical requests that accept the same cached responses share a call. */
  sharedCallName: string
  /** The model as the client requested it. */
  model: string
  /** Records the lookup's calls to other models. Undefined when requests are not traced. */
  trace?: InternalCallTrace | undefined
  /** Returns the semantic part of the query, or the reason why there is none. Computed on the first call. */
  semantic(): SemanticQuery | MissReason
}

export interface SemanticQuery {
  /** The text that a match may word differently. */
  normalizedPrompt: NormalizedPrompt
  /** The scope within which other wordings share the response. */
  sharingScope: string
  /** The scope of verdicts on the text. */
  verdictScope: string
  /** Hex SHA-256 of the normalized text, within the scope of verdicts. Verdicts apply there in every context. */
  normalizedHash: string
  /** Hex SHA-256 of the request without the text, within the sharing scope. */
  contextHash: string
  /** Hash of the instructions that decided whether the wording matters, or else of the first ones. Null without instructions. */
  instructionsHash: string | null
  /** Similarity that a match must exceed, unless a person or the judge confirmed it. */
  threshold: number
  risk: SemanticRisk
  /** False when no similar prompt may be served. Then no vector is computed, searched for or stored. */
  needsVector: boolean
  /** Hashes of the topic words, the rarest first. Empty when no vector is needed. */
  topicWords: readonly number[]
  /** True if people have marked hits or near misses of the project as right or wrong. */
  hasVerdicts: boolean
  /** Lowest similarity at which a verdict counts. Null when only matches above the threshold count. */
  judgeFloor: number | null
}

/** Hex digits of `askedId`. They distinguish a project's requests of a week. */
const ASKED_ID_LENGTH = 16

export function createCacheQuery(
  request: Pick<CacheQuery, 'resolvedKey' | 'control' | 'identity' | 'model'>,
  /** From `hashRequest`. */
  hash: string,
): CacheQuery {
  const { resolvedKey, control } = request
  const requestHash = scopedHash(control.sharingScope, hash)
  const { project_id, cache_generation } = resolvedKey
  const conditions = `${control.threshold ?? ''}:${control.maxAgeSeconds ?? ''}`
  let semantic: SemanticQuery | MissReason | undefined
  return {
    ...request,
    requestHash,
    askedId: hash.slice(0, ASKED_ID_LENGTH),
    exactKey: entryName(project_id, cache_generation, requestHash),
    sharedCallName: sharedCallName(project_id, cache_generation, `${requestHash}:${conditions}`),
    semantic() {
      semantic ??= buildSemanticQuery(request)
      return semantic
    },
  }
}

function buildSemanticQuery({
  identity,
  resolvedKey,
  control,
}: Pick<CacheQuery, 'identity' | 'resolvedKey' | 'control'>): SemanticQuery | MissReason {
  if (resolvedKey.semantic_mode === 'off') return 'off'
  // Contexts with a rounded number cannot be compared, and a large one would take long to hash.
  if (identity.source.hasInexactNumber || identity.source.isLarge) return 'no-candidate'
  const prompt = extractPromptText(identity.endpoint, identity.body)
  if (!prompt) return 'no-candidate'
  const rest = hashContext(identity, prompt.contextBody)
  const owner = scopeOwnerOf({ resolvedKey, control })
  const instructions = classifyPromptContext(prompt, rest, owner, resolvedKey.semantic_contexts)
  // Stays unchanged if the context works on it, such as a translation.
  const normalized = normalizePrompt(prompt.text, instructions.kind, owner)
  // Texts that were normalized are never compared with texts that were not.
  const context = normalized.context === 'work' ? sha256(`work ${rest}`) : rest
  // The message's other texts may depend on the time or concern the end user.
  const isInTemplate = prompt.message !== prompt.text
  const message = isInTemplate ? normalizePrompt(prompt.message, 'work') : normalized
  if (!message.isSemantic) return 'no-candidate'
  const hasBypass = resolvedKey.semantic_policy !== 'threshold'
  const bypass = hasBypass ? (findBypassReason(message) ?? (isInTemplate ? findBypassReason(normalized) : null)) : null
  if (bypass) return bypass
  const scope = semanticScope(resolvedKey, identity.body, describeMessage(prompt, normalized, message))
  const scopeOfVerdicts = verdictScope(scope, identity.namespace)
  const contextHash = scopedHash(scope, context)
  const needsVector = canServeSimilar(resolvedKey, normalized)
  return {
    normalizedPrompt: normalized,
    sharingScope: scope,
    verdictScope: scopeOfVerdicts,
    normalizedHash: scopedHash(scopeOfVerdicts, sha256(normalized.normalized)),
    instructionsHash: instructions.hash,
    contextHash,
    threshold: control.threshold ?? resolvedKey.semantic_threshold,
    risk: resolvedKey.semantic_risk,
    needsVector,
    topicWords: needsVector ? hashTopicWords(normalized, `${resolvedKey.project_id} ${contextHash}`) : [],
    hasVerdicts: resolvedKey.verdict_generation > 1,
    judgeFloor: resolvedKey.semantic_policy === 'judged' ? resolvedKey.semantic_judge_floor : null,
  }
}

/** Returns what may concern the end user: the question and its template, or else the whole message. */
function describeMessage(
  { template }: PromptText,
  question: NormalizedPrompt,
  message: NormalizedPrompt,
): NormalizedPrompt {
  return template === null ? message : { ...question, normalized: `${template}\n${question.normalized}` }
}

/** Returns 32-bit hashes of the topic words within a group of prompts. Other groups have other hashes. */
function hashTopicWords({ normalized }: NormalizedPrompt, group: string): readonly number[] {
  const seed = Bun.hash.xxHash32(group)
  return topicWordsOf(normalized).map(word => Bun.hash.xxHash32(word, seed) | 0)
}

/** Returns whether other wordings of the prompt are shared with the same end user only. */
export function isUserScoped({
  resolvedKey,
  control,
  identity,
  semantic,
}: Pick<CacheQuery, 'resolvedKey' | 'control' | 'identity' | 'semantic'>): boolean {
  // Most requests need no prompt parsing for this.
  if (!canBeUserScoped(resolvedKey, identity.body)) return false
  const query = semantic()
  return typeof query !== 'string' && query.sharingScope !== control.sharingScope
}

/** Returns whether the policy serves similar prompts: `verified` for plain questions only, `proved` for none. */
function canServeSimilar({ semantic_policy }: ResolvedKey, prompt: NormalizedPrompt): boolean {
  if (semantic_policy === 'proved') return false
  return semantic_policy !== 'verified' || isPlainQuestion(prompt)
}

/** Fields of delivery and bookkeeping. `store` is not one of them, because it decides whether the response's id can be used later. */
const RESPONSES_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(ECHOED_FIELDS),
  'stream',
  'stream_options',
  'prompt_cache_retention',
  'client_metadata',
])

/** Returns the fields that cannot change an endpoint's response. Undefined means the default list. */
export function listIrrelevantFields(endpoint: string): ReadonlySet<string> | undefined {
  return endpoint === 'responses' ? RESPONSES_FIELDS : undefined
}

export interface RequestIdentity {
  namespace: string
  /** As in `CacheControl`. */
  version: string
  endpoint: string
  /** The provider and model that the request is routed to. The same model name may mean another model elsewhere. */
  route: string
  /** The client's headers that may change the response, as name and value, sorted by name. */
  headers: readonly (readonly [name: string, value: string])[]
  body: JsonObject
  /** From `canonicalizeBody`. */
  canonicalBody: string
  /** The body as it was sent. */
  source: { readonly text: string; hasInexactNumber: boolean; isLarge: boolean }
}

interface HashedRequest extends Pick<RequestIdentity, 'namespace' | 'version' | 'endpoint' | 'route'> {
  hash: string
}

/** The last hash of each frozen body. A body that is sent again mostly has the same route. */
const lastHashes = new WeakMap<JsonObject, HashedRequest>()

/** Returns the request's hex SHA-256. Two requests share it only if a correct response to one is correct for the other. */
export function hashRequest(identity: RequestIdentity): string {
  const { namespace, version, endpoint, route, headers, body } = identity
  const known = headers.length === 0 ? lastHashes.get(body) : undefined
  const isSame = known?.namespace === namespace && known.version === version
  if (isSame && known.endpoint === endpoint && known.route === route) return known.hash
  const hash = computeHash(identity)
  if (headers.length === 0 && Object.isFrozen(body)) lastHashes.set(body, { namespace, version, endpoint, route, hash })
  return hash
}

function computeHash({ namespace, version, endpoint, route, headers, canonicalBody, source }: RequestIdentity): string {
  const parts = ['request', namespace, version, endpoint, route, canonicalBody, ...encodeHeaders(headers)]
  // Numbers that JavaScript rounds to the same value must stay different.
  if (source.hasInexactNumber) parts.push(sha256(source.text))
  return sha256(parts.join('\n'))
}

/** Returns the hex SHA-256 of the request without the prompt text, which `contextBody` does not contain. */
export function hashContext(identity: RequestIdentity, contextBody: JsonObject): string {
  const { namespace, version, endpoint, route, headers } = identity
  const parts = [
    'context',
    namespace,
    version,
    endpoint,
    route,
    canonicalizeBody(contextBody, listIrrelevantFields(endpoint)),
    ...encodeHeaders(headers),
  ]
  return sha256(parts.join('\n'))
}

/** Returns the headers as one part of the hash, or no part without headers. */
function encodeHeaders(headers: RequestIdentity['headers']): string[] {
  return headers.length === 0 ? [] : [JSON.stringify(headers)]
}
