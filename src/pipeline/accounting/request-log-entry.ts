/** Creates the log line of a finished request. */
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import type { UsageRecord } from '../../postgres/usage-record.ts'
import { describeCause } from '../../telemetry/describe-cause.ts'

const INFO = 30

export function createRequestLogEntry(
  record: UsageRecord,
  resolvedKey: ResolvedKey,
  cause: unknown,
  droppedTools: string | null,
) {
  return {
    level: INFO,
    time: record.recorded_at,
    id: record.request_id,
    project: resolvedKey.project_name,
    key: resolvedKey.key_prefix,
    endpoint: record.endpoint,
    model: record.model,
    provider: record.provider,
    cache: record.cache_result,
    status: record.status,
    code: record.error_code ?? undefined,
    streamed: record.streamed,
    dropped_tools: droppedTools ?? undefined,
    promptTokens: record.prompt_tokens,
    completionTokens: record.completion_tokens,
    tokensSaved: record.tokens_saved,
    costUsd: record.cost_usd,
    cost_estimated: record.cost_estimated ?? undefined,
    doubtful_usd: record.doubtful_usd ?? undefined,
    latencyMs: record.latency_ms,
    durationMs: record.duration_ms,
    cause: cause === undefined ? undefined : describeCause(cause),
    msg: 'request',
  }
}
