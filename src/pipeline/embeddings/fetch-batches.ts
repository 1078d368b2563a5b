/** Asks a provider for vectors that are neither cached nor in flight: in concurrent batches, each yielded as soon as it arrives. */
import type { ErrorResponse } from '../../coalescing/shared-call.ts'
import type { EmbeddingsJob, NamedInput } from './embeddings-job.ts'
import { type Batch, type FetchedBatch, fetchBatch } from './fetch-batch.ts'
import { planBatches } from './plan-batches.ts'

/** Why some vectors are missing: an error that was thrown, or the upstream's own error, ready to be passed on. */
export type FetchEnd = { failure: unknown } | { refusal: ErrorResponse }

const BATCHES_AT_ONCE = 8

/** `unknown` holds at least one input and no duplicates. The first batch to fail aborts the others and is yielded last. Never throws. */
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
