/** Records what a message batch used from its results, as its client reads them: Anthropic reports it nowhere else. */
import { costUsd } from '../../catalogue/catalogue.ts'
import { checkReportedCost } from '../../catalogue/reported-cost.ts'
import { Job, LONGEST_ON_LOOP, offLoop } from '../../event-loop/off-loop.ts'
import { joinBytes } from '../../formats/sse/split-events.ts'
import { addUsage, NO_USAGE } from '../../formats/token-usage.ts'
import { callForRow } from '../../postgres/call.ts'
import { batchSpendingId, releaseSpending } from '../../postgres/spending.ts'
import { MAX_PLAIN_BYTES } from '../../providers/read-bytes.ts'
import { broken } from '../../providers/upstream-failure.ts'
import type { Stages } from '../request-context.ts'
import { type AskedBatch, BATCH_SHARE, recordSpent, type Spent } from './note-object.ts'
import { type BatchResult, readBatchResult } from './read-result.ts'

const READ = new Job<Uint8Array, BatchResult | null>(new URL('../jobs.ts', import.meta.url), 'readResult')
const LINE_FEED = 10

/** Returns the results as they come. They are read to their end even if the client leaves, and recorded once. */
export function recordResults(
  results: ReadableStream<Uint8Array>,
  batch: AskedBatch,
  stages: Stages,
): ReadableStream<Uint8Array> {
  const reader = results.getReader()
  const tally = createTally(batch, stages)

  async function readNext(): Promise<Uint8Array | null> {
    const { done, value } = await reader.read()
    if (!done) {
      await tally.push(value)
      return value
    }
    await recordOnce(batch, await tally.end(), stages)
    return null
  }

  async function readOn(): Promise<void> {
    while ((await readNext()) !== null);
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const bytes = await readNext()
        if (bytes === null) controller.close()
        else controller.enqueue(bytes)
      },
      // What breaks off now is recorded when the results are read again.
      cancel: () => void readOn().catch(() => {}),
    },
    { highWaterMark: 0 },
  )
}

/** Adds up lines of JSON by model. */
function createTally({ provider, account }: AskedBatch, { catalogue }: Stages) {
  const spent = new Map<string, Spent>()
  let parts: Uint8Array[] = []
  let length = 0

  function add({ model, usage }: BatchResult): void {
    const before = spent.get(model) ?? { model, usage: NO_USAGE, usd: 0 }
    const find = (name: string) => catalogue.find(provider.name, name)
    const usd =
      usage && !usage.missing ? costUsd(find(model), checkReportedCost(usage, provider, find(model)), find) : null
    spent.set(model, {
      model,
      usage: usage ? addUsage(before.usage, usage) : before.usage,
      usd: usd === null || before.usd === null ? null : before.usd + usd * BATCH_SHARE,
    })
  }

  function hold(bytes: Uint8Array): void {
    length += bytes.length
    if (length > MAX_PLAIN_BYTES) throw broken(provider.name, 'gave a result that is too long')
    if (bytes.length > 0) parts.push(bytes.slice())
  }

  async function endLine(): Promise<void> {
    const line = joinBytes(parts)
    parts = []
    length = 0
    const owner = account.project_id
    const isLong = line.length > LONGEST_ON_LOOP
    const result = isLong
      ? await offLoop.run(READ, line, { owner, transfer: [line.buffer as ArrayBuffer] })
      : readBatchResult(line)
    if (result) add(result)
  }

  return {
    async push(bytes: Uint8Array): Promise<void> {
      let start = 0
      for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
        hold(bytes.subarray(start, end))
        await endLine()
        start = end + 1
      }
      hold(bytes.subarray(start))
    },
    async end(): Promise<Spent[]> {
      await endLine()
      return [...spent.values()]
    },
  }
}

/** One record for each model, by the one request that first read all results. */
async function recordOnce(batch: AskedBatch, spent: readonly Spent[], stages: Stages): Promise<void> {
  const { account, id } = batch
  const settled = await callForRow(stages.database, 'settle_batch', { of_project: account.project_id, batch_id: id })
  if (!settled) return
  const reservation = batchSpendingId(account.project_id, id)
  if (account.has_budgets && spent.length === 0) await releaseSpending(stages.database, [reservation])
  for (const each of spent) recordSpent(batch, each, { reservation, ...settled }, stages)
}
