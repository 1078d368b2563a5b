/** Notes how one request went, and hands it to records and log when it is over. */

import type { Catalogue } from '../catalogue/catalogue.ts'
import { costUsd, NO_USAGE, type TokenUsage } from '../catalogue/cost.ts'
import type { AdmitRow } from '../postgres/admit.ts'
import type { UsageRecord } from '../postgres/record-usage.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import type { UsageRecorder } from '../telemetry/usage-recorder.ts'
import type { ProxyRequest } from './exchange.ts'

export interface Outcome {
  status: number
  cacheResult: 'HIT' | 'HIT-SEMANTIC' | 'MISS' | null
  /** Who answered, or first answered. */
  provider: string | null
  /** Under which name the catalogue prices it; null: it costs nothing. */
  pricedAs: string | null
  /** The model that answered, where it may be another than was asked for. */
  model?: string
  /** On a hit: what the stored answer once used. */
  usage: TokenUsage
  /** On a miss: prompt tokens of the parts that were known. */
  savedPromptTokens?: number
  /** Why it failed; for the log alone. */
  cause?: unknown
}

export interface Ledger {
  /** Notes when the response headers were ready; returns the milliseconds since arrival. */
  noteHeaders(): number
  /** Writes record and log line. Only the first call counts. */
  close(outcome: Outcome): void
}

export interface LedgerSubject {
  request: ProxyRequest
  account: AdmitRow
  model: string
  stream: boolean
}

export type OpenLedger = (subject: LedgerSubject) => Ledger

export function createLedgers(recorder: UsageRecorder, catalogue: Catalogue, log: Log): OpenLedger {
  return ({ request, account, model, stream }) => {
    let latencyMs: number | null = null
    let closed = false

    return {
      noteHeaders() {
        latencyMs ??= performance.now() - request.arrivedAtMs
        return latencyMs
      },
      close({ status, cacheResult, provider, pricedAs, model: answered = model, usage, savedPromptTokens = 0, cause }) {
        if (closed) return
        closed = true
        const durationMs = performance.now() - request.arrivedAtMs
        const isHit = cacheResult === 'HIT' || cacheResult === 'HIT-SEMANTIC'
        const price = (worth: TokenUsage) =>
          worth === NO_USAGE || pricedAs === null ? 0 : costUsd(catalogue.find(pricedAs, answered), worth)
        const charged = isHit ? NO_USAGE : usage
        const known = savedPromptTokens > 0 ? { ...NO_USAGE, promptTokens: savedPromptTokens } : NO_USAGE
        const saved = isHit ? usage : known
        const record: UsageRecord = {
          recorded_at: new Date().toISOString(),
          request_id: request.id,
          project_id: account.project_id,
          key_id: account.key_id,
          endpoint: request.endpoint,
          model: answered,
          provider,
          cache_result: cacheResult,
          status,
          streamed: stream,
          prompt_tokens: charged.promptTokens,
          cached_prompt_tokens: charged.cachedPromptTokens,
          completion_tokens: charged.completionTokens,
          tokens_saved: saved.promptTokens,
          cost_usd: price(charged),
          saved_usd: price(saved),
          latency_ms: round(latencyMs ?? durationMs),
          duration_ms: round(durationMs),
        }
        recorder.record(record)
        log.request(() => describeRequest(record, account, cause))
      },
    }
  }
}

const INFO = 30

function describeRequest(record: UsageRecord, account: AdmitRow, cause: unknown) {
  return {
    level: INFO,
    time: record.recorded_at,
    id: record.request_id,
    project: account.project_name,
    key: account.key_prefix,
    endpoint: record.endpoint,
    model: record.model,
    provider: record.provider,
    cache: record.cache_result,
    status: record.status,
    streamed: record.streamed,
    promptTokens: record.prompt_tokens,
    completionTokens: record.completion_tokens,
    tokensSaved: record.tokens_saved,
    costUsd: record.cost_usd,
    latencyMs: record.latency_ms,
    durationMs: record.duration_ms,
    ...(cause === undefined ? {} : { cause: describeCause(cause) }),
    msg: 'request',
  }
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}
