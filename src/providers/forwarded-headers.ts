/** Which headers cross the proxy: in both directions those that are named here, and no others. */
import type { DirectProvider } from '../config.ts'

/** Whose documented headers hold. Any aggregator is taken for one that knows OpenRouter's. */
export type ProviderKind = DirectProvider | 'aggregator'

/** Lower-case name and value. */
export type HeaderPair = [name: string, value: string]

/**
 * What each vendor documents for its customers. OpenAI's organization and project belong to the project's own key, the
 * only one that it is ever reached with.
 */
const FORWARDED: Record<ProviderKind, readonly string[]> = {
  openai: ['idempotency-key', 'openai-beta', 'openai-organization', 'openai-project'],
  anthropic: ['anthropic-beta', 'anthropic-version', 'idempotency-key'],
  groq: ['groq-model-version', 'idempotency-key'],
  aggregator: [
    'http-referer',
    'idempotency-key',
    'x-anthropic-beta',
    'x-openrouter-categories',
    'x-openrouter-title',
    'x-title',
  ],
}

const RETURNED = new Set([
  'content-disposition',
  'content-type',
  'openai-model',
  'openai-processing-ms',
  'openai-version',
  'retry-after',
  'retry-after-ms',
  'x-generation-id',
  'x-should-retry',
])
/** How much of its limits a key has left. */
const RETURNED_PREFIXES = ['anthropic-ratelimit-', 'x-ratelimit-']
/** The vendors' names for the id that they know a request by. */
const REQUEST_IDS = ['x-request-id', 'request-id']

/**
 * Forwarded, and no part of what is asked. An idempotency key is another for every request, and only keeps a provider from
 * doing the same one twice. The others tell an aggregator which app to credit. What is not named here counts: a header that is
 * forwarded tomorrow keeps requests apart until somebody has shown that it need not. The client's own user agent and tracing
 * headers are never forwarded, so they cannot change an answer.
 */
const WITHOUT_EFFECT = new Set([
  'http-referer',
  'idempotency-key',
  'x-openrouter-categories',
  'x-openrouter-title',
  'x-title',
])

const hasEffect = (name: string) => !WITHOUT_EFFECT.has(name)
const WITH_EFFECT: Record<ProviderKind, readonly string[]> = {
  openai: FORWARDED.openai.filter(hasEffect),
  anthropic: FORWARDED.anthropic.filter(hasEffect),
  groq: FORWARDED.groq.filter(hasEffect),
  aggregator: FORWARDED.aggregator.filter(hasEffect),
}

/** The client's headers that may change what this provider answers, sorted by name: whoever asks "is it the same request?" asks it of these too. */
export function answerHeaders(headers: Headers, kind: ProviderKind | undefined): HeaderPair[] {
  const pairs: HeaderPair[] = []
  if (kind === undefined) return pairs
  for (const name of WITH_EFFECT[kind]) {
    const value = headers.get(name)
    if (value !== null) pairs.push([name, value])
  }
  return pairs
}

/**
 * The client's headers that reach a provider, sorted by name. Idempotency keys are told apart by project, as projects may share
 * a provider's key.
 */
export function forwardedHeaders(headers: Headers, kind: ProviderKind, projectId: number): HeaderPair[] {
  return FORWARDED[kind].flatMap((name): HeaderPair[] => {
    const value = headers.get(name)
    if (value === null) return []
    return [[name, name === 'idempotency-key' ? `project-${projectId}-${value}` : value]]
  })
}

/** Upstream's headers as the client may see them. */
export function returnedHeaders(headers: Headers): Headers {
  const returned = new Headers()
  headers.forEach((value, name) => {
    if (RETURNED.has(name) || RETURNED_PREFIXES.some(prefix => name.startsWith(prefix))) returned.set(name, value)
  })
  const upstreamId = REQUEST_IDS.map(name => headers.get(name)).find(id => id !== null)
  if (upstreamId !== undefined) returned.set('x-upstream-request-id', upstreamId)
  return returned
}
