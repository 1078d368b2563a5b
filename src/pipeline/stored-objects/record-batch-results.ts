/** Records a message batch's usage from its results while its client reads them. Anthropic reports it nowhere else. */
import { computeCostUsd } from '../../catalogue/catalogue.ts'
import { omitImplausibleCost } from '../../catalogue/reported-cost.ts'
import { MAX_MAIN_THREAD_BYTES, WorkerJob, workerPool } from '../../event-loop/worker-pool.ts'
import { concatBytes } from '../../formats/sse/split-events.ts'
import { addUsage, NO_USAGE } from '../../formats/token-usage.ts'
import { MAX_PLAIN_RESPONSE_BYTES } from '../../providers/read-bytes.ts'
import { brokenResponseError } from '../../providers/upstream-failure.ts'
import type { PipelineServices } from '../context/request-context.ts'
import { type BatchResult, readBatchResult } from './batches/jobs.ts'
import type { FoundObjectContext } from './find-object.ts'
import { BATCH_PRICE_FACTOR, type ModelCost, recordBatchOnce } from './record-object-state.ts'

const READ_RESULT = new WorkerJob<Uint8Array, BatchResult | null>(
  new URL('./batches/jobs.ts', import.meta.url),
  'readBatchResultJob',
)
const NEWLINE = 10

/** Relays the results. They are read to their end even if the client disconnects, and recorded once. */
export function recordBatchResults(
  results: ReadableStream<Uint8Array>,
  context: FoundObjectContext,
  stages: PipelineServices,
): ReadableStream<Uint8Array> {
  const reader = results.getReader()
  const tally = createTally(context, stages)

  async function readNext(): Promise<Uint8Array | null> {
    const { done, value } = await reader.read()
    if (!done) {
      await tally.push(value)
      return value
    }
    await recordBatchOnce(context, await tally.end(), stages)
    return null
  }

  async function readToEnd(): Promise<void> {
    while ((await readNext()) !== null);
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const bytes = await readNext()
        if (bytes === null) controller.close()
        else controller.enqueue(bytes)
      },
      // If reading fails now, usage is recorded when the results are read again.
      cancel: () => void readToEnd().catch(() => {}),
    },
    { highWaterMark: 0 },
  )
}

/** Adds up the usage in lines of JSON by model. */
function createTally({ resolvedKey, object }: FoundObjectContext, { catalogue }: PipelineServices) {
  const { provider } = object
  const spent = new Map<string, ModelCost>()
  let parts: Uint8Array[] = []
  let length = 0

  function add({ model, usage }: BatchResult): void {
    const before = spent.get(model) ?? { model, usage: NO_USAGE, usd: 0 }
    const find = (name: string) => catalogue.find(provider.pricedAs, name)
    const usd =
      usage && !usage.missing
        ? computeCostUsd(find(model), omitImplausibleCost(usage, provider, find(model)), find)
        : null
    spent.set(model, {
      model,
      usage: usage ? addUsage(before.usage, usage) : before.usage,
      usd: usd === null || before.usd === null ? null : before.usd + usd * BATCH_PRICE_FACTOR,
    })
  }

  function append(bytes: Uint8Array): void {
    length += bytes.length
    if (length > MAX_PLAIN_RESPONSE_BYTES)
      throw brokenResponseError(provider.name, 'returned a batch result that is too long')
    if (bytes.length > 0) parts.push(bytes.slice())
  }

  async function endLine(): Promise<void> {
    const line = concatBytes(parts)
    parts = []
    length = 0
    const owner = resolvedKey.project_id
    const isLong = line.length > MAX_MAIN_THREAD_BYTES
    const result = isLong
      ? await workerPool.run(READ_RESULT, line, { owner, transfer: [line.buffer as ArrayBuffer] })
      : readBatchResult(line)
    if (result) add(result)
  }

  return {
    async push(bytes: Uint8Array): Promise<void> {
      let start = 0
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
        append(bytes.subarray(start, end))
        await endLine()
        start = end + 1
      }
      append(bytes.subarray(start))
    },
    async end(): Promise<ModelCost[]> {
      await endLine()
      return [...spent.values()]
    },
  }
}
