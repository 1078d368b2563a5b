/** Asks a provider for vectors that nobody knows yet: in batches side by side, each given out as soon as it is there. */
import type { ErrorResponse } from '../../coalescing/shared-call.ts'
import type { EmbeddingsJob, NamedInput } from './embeddings-job.ts'
import { type Batch, type FetchedBatch, fetchBatch } from './fetch-batch.ts'
import { planBatches } from './plan-batches.ts'

/** Why not all could be had: thrown, or upstream's own error, fit to be passed on. */
export type FetchEnd = { failure: unknown } | { refusal: ErrorResponse }

const BATCHES_AT_ONCE = 8

/** `unknown`: different from each other, at least one. The first batch to fail ends the others, and comes last. Never throws. */
export async function* fetchBatches(
  job: EmbeddingsJob,
  unknown: readonly NamedInput[],
): AsyncGenerator<FetchedBatch | FetchEnd, void> {
  const { request, query } = job.context
  const abort = new AbortController()
  const signal = AbortSignal.any([request.signal, abort.signal])
  const plan = planBatches(unknown, query.model)
  const isVerbatim = unknown.length === job.inputs.length && plan.length === 1
  const waiting = plan.map(inputs => ({ inputs, isVerbatim }))
  const running = new Map<Batch, Promise<{ batch: Batch; outcome: FetchedBatch | FetchEnd }>>()

  while (waiting.length > 0 || running.size > 0) {
    for (let batch = waiting.shift(); batch; batch = running.size < BATCHES_AT_ONCE ? waiting.shift() : undefined) {
      const started = batch
      const fetching = fetchBatch(job, started, signal).catch(failure => ({ failure }))
      running.set(
        started,
        fetching.then(outcome => ({ batch: started, outcome })),
      )
    }
    const { batch, outcome } = await Promise.race(running.values())
    running.delete(batch)
    yield outcome
    if ('vectors' in outcome) continue
    abort.abort()
    return
  }
}
