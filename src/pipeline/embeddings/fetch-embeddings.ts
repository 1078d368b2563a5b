/** Asks a provider for vectors that nobody knows yet: in batches side by side, each kept as soon as it is there. */

import { addUsage, NO_USAGE, type TokenUsage } from '../../catalogue/cost.ts'
import type { Breathe } from '../../event-loop/yield.ts'
import type { Provider } from '../../providers/upstream.ts'
import type { Input } from '../../vector-cache/vector-name.ts'
import type { ProxyRequest, ProxyResponse } from '../exchange.ts'
import type { ParsedBody } from '../read-request.ts'
import type { InputCounter } from './count-inputs.ts'
import { type FetchedBatch, fetchBatch } from './fetch-batch.ts'
import type { FetchedVector } from './in-flight.ts'
import { planBatches } from './plan-batches.ts'

/** One input, and the name its vector is kept under. */
export interface NamedInput {
  name: string
  input: Input
}

export interface FetchOrder {
  request: ProxyRequest
  parsed: ParsedBody
  provider: Provider
  /** Different from each other; at least one. */
  unknown: readonly NamedInput[]
  /** They are all that the client asked for, in its order: the body can be forwarded as it came. */
  isWholeRequest: boolean
  counter: InputCounter
  breathe: Breathe
  /** Told of each batch as it arrives. */
  keep(vectors: ReadonlyMap<string, FetchedVector>): void
}

/** What the client is told instead: thrown, or upstream's own error, returned. */
export type FetchEnd = { failure: unknown } | { refusal: ProxyResponse }

export interface Fetched {
  /** All of them, unless it ended before. */
  batches: readonly FetchedBatch[]
  usage: TokenUsage
  end: FetchEnd | null
}

const BATCHES_AT_ONCE = 8

/** The first batch to fail ends the others. Never rejects. */
export async function fetchEmbeddings(order: FetchOrder): Promise<Fetched> {
  const { request, parsed, unknown } = order
  const abort = new AbortController()
  const signal = AbortSignal.any([request.signal, abort.signal])
  const plan = planBatches(unknown, parsed.model)
  const isVerbatim = order.isWholeRequest && plan.length === 1
  const waiting = [...plan]
  const batches: FetchedBatch[] = []
  let end: FetchEnd | null = null

  async function work(): Promise<void> {
    for (let inputs = waiting.shift(); inputs && !end; inputs = waiting.shift()) {
      const outcome = await fetchBatch({ ...order, inputs, isVerbatim, signal }).catch(failure => ({ failure }))
      if ('vectors' in outcome) {
        batches.push(outcome)
        order.keep(outcome.vectors)
      } else {
        end ??= outcome
        abort.abort()
      }
    }
  }

  await Promise.all(Array.from({ length: Math.min(BATCHES_AT_ONCE, plan.length) }, work))
  return { batches, usage: batches.reduce((sum, batch) => addUsage(sum, batch.usage), NO_USAGE), end }
}
