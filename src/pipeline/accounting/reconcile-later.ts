/** Has the usage of a response requested that its provider keeps, where a record estimates it. */
import { AGGREGATOR } from '../../catalogue/catalogue.ts'
import type { ArgumentsOf } from '../../postgres/call.ts'
import type { UsageRecord } from '../../postgres/usage-record.ts'
import type { Provider } from '../../providers/upstream.ts'
import { storageProviderNameOf } from '../ownership/claim-ids.ts'

/** Has a provider's usage of a response requested later. */
export type ReconcileLater = (response: ArgumentsOf<'queue_reconciliation'>) => void

export function reconcileEstimatedUsage(
  { id, provider, key }: { id: string; provider: Provider; key: string | null },
  { cost_estimated, spent = [], project_id, request_id, recorded_at, duration_ms }: UsageRecord,
  follow: ReconcileLater,
): void {
  const [part, another] = spent
  // Of several that were asked for one request, the others' part would be known no better.
  if (!cost_estimated || !part || another) return
  // Asked for its usage alone, a shared key is as good as a project's own.
  const keeper = provider.kind === AGGREGATOR ? AGGREGATOR : storageProviderNameOf(provider, key)
  if (keeper === null) return
  const arrivedAt = new Date(Date.parse(recorded_at) - duration_ms).toISOString()
  follow({
    of_project: project_id,
    response_id: id,
    of_provider: keeper,
    of_request: request_id,
    recorded: recorded_at,
    // What is reserved is charged to the period in which that was.
    charged: part.id === null ? recorded_at : arrivedAt,
    estimated_usd: part.usd,
  })
}
