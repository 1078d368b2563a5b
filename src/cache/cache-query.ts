/** What a request asks the cache: its hash and, if it may be matched semantically, its text. */

import { canonicalizeBody, type JsonObject, sha256 } from '../formats/json/canonical.ts'
import { ECHOED_FIELDS } from '../formats/responses/echoed-fields.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import { entryName, sharedCallName } from '../stores/fast-store.ts'
import type { InternalCallTrace } from '../telemetry/tracing/request-trace.ts'
import type { CacheControl } from './cache-control.ts'
import { canBeUserScoped, scopedHash, scopeOwnerOf, semanticScope, verdictScope } from './cache-scope.ts'
import { extractPromptText, normalizePromptText } from './prompt-text.ts'
import type { MissReason } from './reasons.ts'
import { type NormalizedPrompt, normalizePrompt } from './text/normalize-prompt.ts'
import { findBypassReason } from './verify/bypass.ts'
import { questionAnchorOf } from './verify/embedding-text.ts'
import { isPlainQuestion, type SemanticRisk } from './verify/verify.ts'

export interface CacheQuery {
  resolvedKey: ResolvedKey
  control: CacheControl
  identity: RequestIdentity
  /** Hex SHA-256 of the whole request, within its sharing scope. */
  requestHash: string
  /** The same in all requests that ask the same, whoever sends them. */
  askedId: string
  /** Name of the response to exactly this request in the fast store. */
  exactKey: string
  /** Name under which identical requests share a call: requests that would accept the same stored responses. */
  sharedCallName: string
  /** The model as the client asked for it. */
  model: string
  /** Where requests are traced: what is asked of other models for the lookup is told there. */
  trace?: InternalCallTrace | undefined
  /** The semantic part of the query, or why there is none. Computed on the first call. */
  semantic(): SemanticQuery | MissReason
}

export interface SemanticQuery {
  /** The text that may be worded differently. */
  normalizedPrompt: NormalizedPrompt
  /** The scope within which it is shared in other words. */
  sharingScope: string
  /** The scope of verdicts on it. */
  verdictScope: string
  /** Hex SHA-256 of the text in normalized form, within the scope of verdicts: they hold there in every context, and nowhere else. */
  normalizedHash: string
  /** Hex SHA-256 of everything else, within the sharing scope. */
  contextHash: string
  /** Similarity that a match must exceed, unless a person or the judge confirmed it. */
  threshold: number
  risk: SemanticRisk
  /** Whether a similar question may be served at all: if not, no vector is made, searched for or stored. */
  needsVector: boolean
  /** Hex SHA-256 of what a similar question must share to be served under `verified`. */
  anchorHash: string
  /** Whether people have given verdicts in the project. */
  hasVerdicts: boolean
  /** Lowest similarity at which a verdict counts; null when only matches above the threshold count. */
  judgeFloor: number | null
}

/** In hex digits: enough to tell apart what a project is asked in a week. */
const ASKED_ID_LENGTH = 16

export function createCacheQuery(
  known: Pick<CacheQuery, 'resolvedKey' | 'control' | 'identity' | 'model'>,
  /** From `hashRequest`. */
  hash: string,
): CacheQuery {
  const { resolvedKey, control } = known
  const requestHash = scopedHash(control.sharingScope, hash)
  const { project_id, cache_generation } = resolvedKey
  const acceptable = `${control.threshold ?? ''}:${control.maxAgeSeconds ?? ''}`
  let semantic: SemanticQuery | MissReason | undefined
  return {
    ...known,
    requestHash,
    askedId: hash.slice(0, ASKED_ID_LENGTH),
    exactKey: entryName(project_id, cache_generation, requestHash),
    sharedCallName: sharedCallName(project_id, cache_generation, `${requestHash}:${acceptable}`),
    semantic() {
      semantic ??= readSemanticQuery(known)
      return semantic
    },
  }
}

function readSemanticQuery({
  identity,
  resolvedKey,
  control,
}: Pick<CacheQuery, 'identity' | 'resolvedKey' | 'control'>): SemanticQuery | MissReason {
  if (resolvedKey.semantic_mode === 'off') return 'off'
  // Contexts with a rounded number cannot be compared, and a large one would take long to hash.
  if (identity.source.hasInexactNumber || identity.source.isLarge) return 'no-candidate'
  const asked = extractPromptText(identity.endpoint, identity.body)
  if (!asked) return 'no-candidate'
  const context = hashContext(identity, asked.contextBody)
  const reading = normalizePromptText(asked, context, scopeOwnerOf({ resolvedKey, control }))
  // The texts beside it may be what changes with time, or what concerns the asker.
  const message = asked.message === asked.text ? reading : normalizePrompt(asked.message, 'work')
  if (!message.isSemantic) return 'no-candidate'
  const bypass = resolvedKey.semantic_policy === 'threshold' ? null : findBypassReason(message)
  if (bypass) return bypass
  const scope = semanticScope(resolvedKey, identity.body, message)
  const ofVerdicts = verdictScope(scope, identity.namespace)
  return {
    normalizedPrompt: reading,
    sharingScope: scope,
    verdictScope: ofVerdicts,
    normalizedHash: scopedHash(ofVerdicts, sha256(reading.normalized)),
    contextHash: scopedHash(scope, context),
    threshold: control.threshold ?? resolvedKey.semantic_threshold,
    risk: resolvedKey.semantic_risk,
    needsVector: maySimilarServe(resolvedKey, reading),
    anchorHash: sha256(reading.isProse ? questionAnchorOf(reading.normalized, reading.owner) : ''),
    hasVerdicts: resolvedKey.verdict_generation > 1,
    judgeFloor: resolvedKey.semantic_policy === 'judged' ? resolvedKey.semantic_judge_floor : null,
  }
}

/** Whether nobody else may be answered from it in other words. */
export function isUserScoped({
  resolvedKey,
  control,
  identity,
  semantic,
}: Pick<CacheQuery, 'resolvedKey' | 'control' | 'identity' | 'semantic'>): boolean {
  // Most requests need not be read for it.
  if (!canBeUserScoped(resolvedKey, identity.body)) return false
  const asked = semantic()
  return typeof asked !== 'string' && asked.sharingScope !== control.sharingScope
}

/** Under `verified`, only a plain question is compared with others; under `proved`, none is. */
function maySimilarServe({ semantic_policy }: ResolvedKey, reading: NormalizedPrompt): boolean {
  if (semantic_policy === 'proved') return false
  return semantic_policy !== 'verified' || isPlainQuestion(reading)
}

/** Delivery and bookkeeping. Unlike elsewhere, `store` counts: with it, the response's id can be used later. */
const RESPONSES_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(ECHOED_FIELDS),
  'stream',
  'stream_options',
  'prompt_cache_retention',
  'client_metadata',
])

/** Fields that cannot change an operation's response; undefined for the default list. */
export function listIrrelevantFields(endpoint: string): ReadonlySet<string> | undefined {
  return endpoint === 'responses' ? RESPONSES_FIELDS : undefined
}

export interface RequestIdentity {
  namespace: string
  endpoint: string
  /** The provider and model that would answer: the same model name may mean another model elsewhere. */
  route: string
  /** The client's headers that may change the response, as name and value, sorted by name. */
  headers: readonly (readonly [name: string, value: string])[]
  body: JsonObject
  /** From `canonicalizeBody`. */
  canonicalBody: string
  /** The body as it was sent. */
  source: { readonly text: string; hasInexactNumber: boolean; isLarge: boolean }
}

interface Hashed extends Pick<RequestIdentity, 'namespace' | 'endpoint' | 'route'> {
  hash: string
}

/** The last hash of each body that is kept, and so does not change: sent again, it is mostly asked for in the same way. */
const hashed = new WeakMap<JsonObject, Hashed>()

/** Hex SHA-256. Two requests share it only if any right response to one is a right response to the other. */
export function hashRequest(identity: RequestIdentity): string {
  const { namespace, endpoint, route, headers, body } = identity
  const known = headers.length === 0 ? hashed.get(body) : undefined
  if (known && known.namespace === namespace && known.endpoint === endpoint && known.route === route) return known.hash
  const hash = computeHash(identity)
  if (headers.length === 0 && Object.isFrozen(body)) hashed.set(body, { namespace, endpoint, route, hash })
  return hash
}

function computeHash({ namespace, endpoint, route, headers, canonicalBody, source }: RequestIdentity): string {
  const parts = ['request', namespace, endpoint, route, canonicalBody, ...writeHeaders(headers)]
  // Two numbers that JavaScript rounds to the same one must stay different.
  if (source.hasInexactNumber) parts.push(sha256(source.text))
  return sha256(parts.join('\n'))
}

/** Hex SHA-256 over everything but the asked text, which `contextBody` lacks. */
export function hashContext({ namespace, endpoint, route, headers }: RequestIdentity, contextBody: JsonObject): string {
  const parts = [
    'context',
    namespace,
    endpoint,
    route,
    canonicalizeBody(contextBody, listIrrelevantFields(endpoint)),
    ...writeHeaders(headers),
  ]
  return sha256(parts.join('\n'))
}

/** Adds nothing for a request without such headers, as nearly all are. */
function writeHeaders(headers: RequestIdentity['headers']): string[] {
  return headers.length === 0 ? [] : [JSON.stringify(headers)]
}
