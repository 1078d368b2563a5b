/** Several keys of a project's own for one provider: which one a request takes, and which one the provider has refused of late. */
import { monotonicMs, nowMs } from '../event-loop/clock.ts'
import { read403 } from './classify-403.ts'
import type { Credentials } from './credentials/credentials.ts'
import {
  type PassThroughRequest,
  type Provider,
  type RealtimeSessionRequest,
  type StorageRequest,
  type UpstreamRequest,
  type UpstreamResponse,
  withEarlierCredentials,
} from './upstream.ts'
import { UpstreamFailure } from './upstream-failure.ts'
import { readRetryAfter } from './with-retries.ts'

export interface WeightedKey {
  name: string
  /** Its share of the requests, against the others. */
  weight: number
  /** Asks with this key alone. */
  provider: Provider
}

/** The header that names the key that answered, where a project has named keys. */
export const PROVIDER_KEY_HEADER = 'x-proxy-provider-key'

/** Unless the provider says how long. */
const REST_MS = { limited: 5_000, refused: 60_000 }
const LONGEST_REST_MS = 60_000
/** Such an answer made nothing, so that another key may be asked; not after a 403 about the request. */
const REFUSED: ReadonlySet<number> = new Set([401, 403, 429])

/**
 * Requests whose prompts begin alike take the same key, so that the provider's cache of prompts is hit; another one takes over where the key
 * is refused or its circuit is open. A refused key rests, for a minute at most; when all rest, the first to be ready is asked. Of a 403 that
 * does not say whether it refuses the key, the next key's answer does.
 */
export function balanceKeys(
  keys: readonly WeightedKey[],
  onRest: (key: string, status: number, restMs: number) => void,
): Provider {
  const [first] = keys
  if (!first) throw new Error('A provider needs a key')
  const { name, kind, pricedAs, nativeEndpoints, passThrough, sendStored, resolveRealtime } = first.provider
  const { choose, rest } = createRests(keys, onRest)

  async function ask(
    beginning: string,
    askWith: (provider: Provider, earlier: readonly Credentials[]) => Promise<UpstreamResponse>,
  ) {
    const chosen = choose(beginning)
    const refused: string[] = []
    const earlier: Credentials[] = []
    const doubtful: [WeightedKey, UpstreamResponse][] = []
    for (const [index, key] of chosen.entries()) {
      const hasNext = index + 1 < chosen.length
      try {
        const given = await askWith(key.provider, earlier)
        const [blamed, answer] = given.status === 403 ? await read403(given, name) : (['key', given] as const)
        const isRefused = REFUSED.has(answer.status) && blamed !== 'request'
        if (isRefused && blamed === 'key') rest(key, answer)
        else if (isRefused) doubtful.push([key, answer])
        else if (answer.status < 500) for (const each of doubtful) rest(...each)
        const keys = [...refused, isRefused ? `${key.name} ${answer.status}` : key.name]
        if (!isRefused || !hasNext) return { ...answer, attemptedKeys: keys, attempts: keys.length }
        refused.push(...keys.slice(-1))
        if (answer.credentials) earlier.push(answer.credentials)
        await answer.body.cancel().catch(() => {})
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error
        const isOpen = error.kind === 'open-circuit'
        if (isOpen && hasNext) continue
        error.attempts += refused.length
        error.attemptedKeys = isOpen ? refused : [...refused, key.name]
        throw error
      }
    }
    throw new Error('A key is always asked')
  }

  return {
    name,
    pricedAs,
    ...(kind && { kind }),
    ...(nativeEndpoints && { nativeEndpoints }),
    send: (request: UpstreamRequest) =>
      ask(beginningOf(request.body), (provider, earlier) => provider.send(withEarlierCredentials(request, earlier))),
    ...(passThrough && {
      passThrough: (request: PassThroughRequest) =>
        ask(beginningOf(request.body?.fields ?? { input: request.path }), (provider, earlier) =>
          (provider.passThrough as typeof passThrough)(withEarlierCredentials(request, earlier)),
        ),
    }),
    ...(sendStored && {
      sendStored: (request: StorageRequest) =>
        ask(request.path, (provider, earlier) =>
          (provider.sendStored as typeof sendStored)(withEarlierCredentials(request, earlier)),
        ),
    }),
    ...(resolveRealtime && {
      // Nothing is known of a session that begins.
      async resolveRealtime(asked: RealtimeSessionRequest) {
        const [key = first] = choose(crypto.randomUUID())
        return { ...(await (key.provider.resolveRealtime as typeof resolveRealtime)(asked)), attemptedKeys: [key.name] }
      },
    }),
  }
}

/** Which key a request takes, and which rest. */
function createRests(keys: readonly WeightedKey[], onRest: (key: string, status: number, restMs: number) => void) {
  const readyAtMs = new Map<string, number>()
  const readyAt = ({ name }: WeightedKey) => readyAtMs.get(name) ?? 0
  function choose(beginning: string): WeightedKey[] {
    const now = monotonicMs()
    const ready = keys.filter(key => readyAt(key) <= now)
    if (ready.length > 0) return rankKeysByAffinity(ready, beginning)
    return [keys.reduce((soonest, key) => (readyAt(key) < readyAt(soonest) ? key : soonest))]
  }

  function rest({ name }: WeightedKey, { status, headers }: UpstreamResponse): void {
    const usualMs = status === 429 ? REST_MS.limited : REST_MS.refused
    const restMs = Math.min(LONGEST_REST_MS, readRetryAfter(headers, nowMs()) ?? usualMs)
    readyAtMs.set(name, monotonicMs() + restMs)
    onRest(name, status, restMs)
  }

  return { choose, rest }
}

/** By weighted rendezvous hashing: when a key comes or goes, only its own share of the requests changes keys. */
export function rankKeysByAffinity<Key extends Pick<WeightedKey, 'name' | 'weight'>>(
  keys: readonly Key[],
  beginning: string,
): Key[] {
  if (keys.length === 1) return [...keys]
  return keys
    .map(key => ({ key, score: -key.weight / Math.log(fractionOf(`${key.name}\n${beginning}`)) }))
    .sort((a, b) => b.score - a.score)
    .map(({ key }) => key)
}

/** Between 0 and 1, and neither. */
function fractionOf(text: string): number {
  return (Number(Bun.hash(text) & 0xffff_ffffn) + 0.5) / 2 ** 32
}

/** No provider caches a prompt that is shorter: longer ones that differ only behind this share a key. */
const BEGINNING_CHARS = 1_024

/** What decides where a provider has cached a prompt: what the client says, or how the prompt begins. */
function beginningOf({
  model,
  prompt_cache_key,
  system,
  instructions,
  messages,
  input,
  prompt,
}: Record<string, unknown>): string {
  if (typeof prompt_cache_key === 'string') return prompt_cache_key
  return takeText([model, system, instructions, messages, input, prompt])
}

/** The first of a value's texts, in order. */
function takeText(value: unknown): string {
  const waiting = [value]
  let text = ''
  while (waiting.length > 0 && text.length < BEGINNING_CHARS) {
    const next = waiting.pop()
    if (typeof next === 'string') text += next.slice(0, BEGINNING_CHARS)
    else if (typeof next === 'object' && next !== null) waiting.push(...firstOf(next).reverse())
  }
  return text
}

/** Few enough to be pushed at once. */
const MOST_PARTS = 64

function firstOf(value: object): unknown[] {
  return Array.isArray(value) ? value.slice(0, MOST_PARTS) : Object.values(value).slice(0, MOST_PARTS)
}
