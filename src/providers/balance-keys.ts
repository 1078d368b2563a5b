/** Distributes a project's requests over its several keys for one provider. A key that the provider rejects cools down. */
import { monotonicMs, nowMs } from '../event-loop/clock.ts'
import { isAboutRequest, read403 } from './classify-403.ts'
import type { Credentials } from './credentials/credentials.ts'
import { readRetryAfter } from './retry-after.ts'
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

export interface WeightedKey {
  name: string
  /** The key's share of the requests, relative to the other keys' weights. */
  weight: number
  /** The provider with this key alone. */
  provider: Provider
}

/** The cooldown of a key when the provider sends no Retry-After. */
const DEFAULT_COOLDOWN_MS = { limited: 5_000, rejected: 60_000 }
const MAX_COOLDOWN_MS = 60_000
/** The provider created nothing when it responds with one of these, so the next key may be used; except after a 403 about the request. */
const KEY_REJECTED_STATUSES: ReadonlySet<number> = new Set([401, 403, 429])

/**
 * Requests whose prompts begin alike use the same key, so that they hit the provider's prompt cache. The next key is used when the provider
 * rejects a key or the key's circuit is open. A rejected key cools down, for a minute at most; when all keys cool down, the one that is ready
 * first is used. When a 403 does not say whether it rejects the key, the response to the next key decides.
 */
export function balanceKeys(
  keys: readonly WeightedKey[],
  onCooldown: (key: string, status: number, cooldownMs: number) => void,
): Provider {
  const [first] = keys
  if (!first) throw new Error('keys must not be empty: balanceKeys needs at least one')
  const { passThrough, sendStored, resolveRealtime, ...traits } = first.provider
  const { name } = traits
  const { choose, coolDown } = createCooldowns(keys, onCooldown)

  async function sendWithKeys(
    promptPrefix: string,
    sendWith: (provider: Provider, earlier: readonly Credentials[], hasNext: boolean) => Promise<UpstreamResponse>,
  ) {
    const chosen = choose(promptPrefix)
    const earlier: Credentials[] = []
    const unexplained: [WeightedKey, UpstreamResponse][] = []
    for (const [index, key] of chosen.entries()) {
      const hasNext = index + 1 < chosen.length
      try {
        const received = await sendWith(key.provider, earlier, hasNext)
        const [cause, response] = received.status === 403 ? await read403(received, name) : (['key', received] as const)
        const isRejected = KEY_REJECTED_STATUSES.has(response.status) && !isAboutRequest(cause)
        if (isRejected && cause === 'key') coolDown(key, response)
        else if (isRejected) unexplained.push([key, response])
        else if (response.status < 500) for (const each of unexplained) coolDown(...each)
        if (!isRejected || !hasNext) return response
        if (response.credentials) earlier.push(response.credentials)
        await response.body.cancel().catch(() => {})
      } catch (error) {
        if (!(error instanceof UpstreamFailure && error.isUnsent && hasNext)) throw error
      }
    }
    throw new Error(`no key of ${name} was left: at least one is used although all are suspended`)
  }

  return {
    ...traits,
    send: (request: UpstreamRequest) =>
      sendWithKeys(promptPrefixOf(request.body), (provider, earlier, hasNext) =>
        // A trial with one of several keys is the request itself: the other keys serve all further ones.
        provider.send(withEarlierCredentials(hasNext ? { ...request, trial: undefined } : request, earlier)),
      ),
    ...(passThrough && {
      passThrough: (request: PassThroughRequest) =>
        sendWithKeys(promptPrefixOf(request.body?.fields ?? { input: request.path }), (provider, earlier) =>
          (provider.passThrough as typeof passThrough)(withEarlierCredentials(request, earlier)),
        ),
    }),
    ...(sendStored && {
      sendStored: (request: StorageRequest) =>
        sendWithKeys(request.path, (provider, earlier) =>
          (provider.sendStored as typeof sendStored)(withEarlierCredentials(request, earlier)),
        ),
    }),
    ...(resolveRealtime && {
      // A session has no prompt before it begins, so its key is drawn at random.
      async resolveRealtime(request: RealtimeSessionRequest) {
        const [key = first] = choose(crypto.randomUUID())
        const address = await (key.provider.resolveRealtime as typeof resolveRealtime)(request)
        return { ...address, key: key.name }
      },
    }),
  }
}

/** Chooses the keys for a request, and remembers which keys cool down. */
function createCooldowns(
  keys: readonly WeightedKey[],
  onCooldown: (key: string, status: number, cooldownMs: number) => void,
) {
  const readyAtMs = new Map<string, number>()
  const readyAt = ({ name }: WeightedKey) => readyAtMs.get(name) ?? 0
  function choose(promptPrefix: string): WeightedKey[] {
    const now = monotonicMs()
    const ready = keys.filter(key => readyAt(key) <= now)
    if (ready.length > 0) return rankKeysByAffinity(ready, promptPrefix)
    return [keys.reduce((soonest, key) => (readyAt(key) < readyAt(soonest) ? key : soonest))]
  }

  function coolDown({ name }: WeightedKey, response: UpstreamResponse): void {
    const { status } = response
    const defaultMs = status === 429 ? DEFAULT_COOLDOWN_MS.limited : DEFAULT_COOLDOWN_MS.rejected
    const cooldownMs = Math.min(MAX_COOLDOWN_MS, readRetryAfter(response, nowMs()) ?? defaultMs)
    readyAtMs.set(name, monotonicMs() + cooldownMs)
    onCooldown(name, status, cooldownMs)
  }

  return { choose, coolDown }
}

/** Ranks keys by weighted rendezvous hashing: when a key is added or removed, only that key's share of the requests changes keys. */
export function rankKeysByAffinity<Key extends Pick<WeightedKey, 'name' | 'weight'>>(
  keys: readonly Key[],
  promptPrefix: string,
): Key[] {
  if (keys.length === 1) return [...keys]
  return keys
    .map(key => ({ key, score: -key.weight / Math.log(hashFraction(`${key.name}\n${promptPrefix}`)) }))
    .sort((a, b) => b.score - a.score)
    .map(({ key }) => key)
}

/** Returns a hash of the text as a number between 0 and 1, both excluded. */
function hashFraction(text: string): number {
  return (Number(Bun.hash(text) & 0xffff_ffffn) + 0.5) / 2 ** 32
}

/** Prompts that differ only after this many characters share a key. Providers cache no shorter prompt. */
const PREFIX_CHARS = 1_024

/** Returns the text that decides which key is used: the client's `prompt_cache_key`, or else the beginning of the prompt. */
function promptPrefixOf({
  model,
  prompt_cache_key,
  system,
  instructions,
  messages,
  input,
  prompt,
}: Record<string, unknown>): string {
  if (typeof prompt_cache_key === 'string') return prompt_cache_key
  return collectText([model, system, instructions, messages, input, prompt])
}

/** Concatenates the strings inside a value in order, until PREFIX_CHARS are collected. */
function collectText(value: unknown): string {
  const waiting = [value]
  let text = ''
  while (waiting.length > 0 && text.length < PREFIX_CHARS) {
    const next = waiting.pop()
    if (typeof next === 'string') text += next.slice(0, PREFIX_CHARS)
    else if (typeof next === 'object' && next !== null) waiting.push(...firstParts(next).reverse())
  }
  return text
}

/** The number of parts is limited because they are passed as arguments of one call. */
const MAX_PARTS = 64

function firstParts(value: object): unknown[] {
  return Array.isArray(value) ? value.slice(0, MAX_PARTS) : Object.values(value).slice(0, MAX_PARTS)
}
