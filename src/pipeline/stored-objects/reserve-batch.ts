/** Reserves the cost of a batch's requests before the batch starts. */
import type { CostBound } from '../../admission/budgets.ts'
import { createYielder } from '../../event-loop/work-scheduler.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readAllBytes } from '../../providers/read-bytes.ts'
import type { Provider } from '../../providers/upstream.ts'
import { brokenResponseError } from '../../providers/upstream-failure.ts'
import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import { addCostBounds, maxCost } from '../spending/max-cost.ts'
import type { RequestSize } from '../spending/max-tokens.ts'
import { readBatchInput } from './batches/batch-input.ts'
import { BATCH_PRICE_FACTOR } from './record-object-state.ts'
import { sendToStorage } from './send-to-storage.ts'

/** Reserves the cost of a file's requests. The file is read again, because the budget may be newer than its upload. */
export async function reserveForFile(
  context: RequestContext,
  provider: Provider,
  fileId: string,
  stages: PipelineServices,
): Promise<void> {
  const { request, resolvedKey } = context
  const target = { collection: 'files', id: fileId, subpath: '/content' } as const
  const upstream = await sendToStorage(provider, { ...request, method: 'GET' }, target)
  const bytes = await readAllBytes(upstream.body, provider.name, MAX_PLAIN_RESPONSE_BYTES, request.responseMemory)
  if (upstream.status >= 400) throw brokenResponseError(provider.name, 'did not return the content of the input file')
  const part = { name: 'file', isFile: true, start: 0, end: bytes.length }
  const options = { isModelRequired: false, isSizeNeeded: true, owner: resolvedKey.project_id }
  const { sizes } = await readBatchInput({ bytes, parts: [part] }, options)
  await reserveForBatch(context, provider, sizes, stages)
}

const NO_COST: CostBound = { usd: 0, tokens: 0 }

/** Reserves the upper bound of the requests' cost, at the discounted price of batches, model by model. */
export async function reserveForBatch(
  { request, recorder }: RequestContext,
  provider: Provider,
  sizes: readonly RequestSize[],
  { catalogue }: PipelineServices,
): Promise<void> {
  const yieldTurn = createYielder()
  const byModel = new Map<string, CostBound>()
  for (const size of sizes) {
    const bound = maxCost(size, provider, catalogue) ?? NO_COST
    const usd = bound.usd === null ? null : bound.usd * BATCH_PRICE_FACTOR
    byModel.set(size.model, addCostBounds(byModel.get(size.model) ?? NO_COST, { ...bound, usd }))
    await yieldTurn()
  }
  recorder.setProvider(provider)
  for (const [model, bound] of byModel) await recorder.spending?.reserveMoney(model, bound, request.signal)
}
