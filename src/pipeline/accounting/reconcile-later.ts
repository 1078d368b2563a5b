/** Queues a response whose usage is estimated, if its provider stores it: the usage is requested later. */
import { AGGREGATOR } from '../../catalogue/catalogue.ts'
import type { ArgumentsOf } from '../../postgres/call.ts'
import type { UsageRecord } from '../../postgres/usage-record.ts'
import type { Provider } from '../../providers/upstream.ts'
import { storageProviderNameOf } from '../ownership/claim-ids.ts'

/** Queues a response; its usage is requested from the provider later. */
export type ReconcileLater = (response: ArgumentsOf<'queue_reconciliation'>) => void

export function reconcileEstimatedUsage(
  { id, provider, key }: { id: string; provider: Provider; key: string | null },
  { cost_estimated, spent = [], project_id, request_id, recorded_at, duration_ms }: UsageRecord,
  reconcileLater: ReconcileLater,
): void {
  const [part, another] = spent
  // If a request made several calls, the usage of one response does not settle the others.
  if (!cost_estimated || !part || another) return
  // The usage of an aggregator's response can be read with a shared key, so the project's own key is not named.
  const storageProvider = provider.kind === AGGREGATOR ? AGGREGATOR : storageProviderNameOf(provider, key)
  if (storageProvider === null) return
  const reservedAt = new Date(Date.parse(recorded_at) - duration_ms).toISOString()
  reconcileLater({
    of_project: project_id,
    response_id: id,
    of_provider: storageProvider,
    of_request: request_id,
    recorded: recorded_at,
    // A reservation is charged to the period in which it was made.
    charged: part.id === null ? recorded_at : reservedAt,
    estimated_usd: part.usd,
  })
}
