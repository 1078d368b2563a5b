/** Opens the stored turns of a request's key, and reserves the cost of what they add to the prompt. */
import { readCacheControl } from '../../../cache/cache-control.ts'
import { recordedEndUserOf } from '../../../formats/end-user.ts'
import type { TurnStore } from '../../../providers/upstream.ts'
import type { LeaderContext, PipelineServices } from '../../context/request-context.ts'
import type { CompletionQuery } from '../../request/query.ts'
import { maxCost, requestSizeOf } from '../../spending/max-cost.ts'

/**
 * `find` looks up once, whatever the number of attempts. It throws like `RequestSpending.reserve`. Nothing is stored of a request that forbids it
 * (`Cache-Control: no-store`).
 */
export function openTurnStore(context: LeaderContext<CompletionQuery>, services: PipelineServices): TurnStore {
  const { query, resolvedKey } = context
  const store = services.storedTurns.open(resolvedKey, recordedEndUserOf(query.body))
  let finding: ReturnType<TurnStore['find']> | null = null
  return {
    store: readCacheControl(query.headers).store ? store.store : turn => void turn.catch(() => {}),
    find(turns) {
      finding ??= store.find(turns).then(async found => {
        const bytes = found.reduce(
          (sum, { extras }) => sum + (extras ? Buffer.byteLength(JSON.stringify(extras)) : 0),
          0,
        )
        if (bytes > 0) await reserveAddedBytes(context, bytes, services)
        return found
      })
      return finding
    },
  }
}

async function reserveAddedBytes(
  { query, provider, recorder: { spending }, call }: LeaderContext<CompletionQuery>,
  bytes: number,
  { catalogue }: PipelineServices,
): Promise<void> {
  if (!spending) return
  const size = requestSizeOf(query, { isLenient: true })
  const before = maxCost(size, provider, catalogue)
  const after = maxCost({ ...size, bytes: size.bytes + bytes }, provider, catalogue)
  if (!before || !after) return
  const added = (one: number | null, other: number | null) => (one === null || other === null ? null : other - one)
  const bound = { usd: added(before.usd, after.usd), tokens: added(before.tokens, after.tokens) }
  if (bound.usd !== 0 || bound.tokens !== 0) await spending.reserveAddition(query.model, bound, call.signal)
}
