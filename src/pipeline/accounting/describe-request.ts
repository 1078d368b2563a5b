/** Describes a request for what is written beside its usage record: its semantic match, its logged content, and its log line. */
import type { CacheQuery } from '../../cache/cache-query.ts'
import { hashScope } from '../../cache/cache-scope.ts'
import type { EntryMetadata, NearMiss, SemanticMatch } from '../../cache/entry.ts'
import { extractPromptText } from '../../cache/prompt-text.ts'
import { type Catalogue, computeCostUsd } from '../../catalogue/catalogue.ts'
import { ProxyError } from '../../errors/errors.ts'
import { recordedEndUserOf } from '../../formats/end-user.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import type { UsageRecord } from '../../postgres/usage-record.ts'
import type { RequestContent } from '../../telemetry/content-recorder.ts'
import { describeCause } from '../../telemetry/describe-cause.ts'
import type { RecordedQuery } from '../request/query.ts'
import type { RecordDraft } from './create-record.ts'

/** Returns the match's outcome, as metrics name it. */
export function describeMatchOutcome(
  { reason }: Pick<SemanticMatch<EntryMetadata> | NearMiss, 'reason'>,
  isShadow: boolean,
) {
  if (isShadow) return 'shadow'
  return reason === 'undecided' ? 'near-miss' : 'served'
}

/** Describes a semantic match, so that people can give feedback on it. */
export function describeSemanticHit(
  match: SemanticMatch<EntryMetadata> | NearMiss,
  { request, resolvedKey, query, provider }: RecordDraft,
  { cacheQuery: { identity, semantic }, isShadow }: { cacheQuery: CacheQuery; isShadow: boolean },
  catalogue: Pick<Catalogue, 'find'>,
) {
  const { promptTokens, completionTokens } = match.entry
  const usage = { ...NO_USAGE, promptTokens, completionTokens }
  const semanticQuery = semantic()
  const logsContent = resolvedKey.log_content === 'sealed'
  return {
    ...match,
    difference: match.reason === 'undecided' ? match.difference : null,
    wording: logsContent ? (extractPromptText(identity.endpoint, identity.body)?.text ?? null) : null,
    projectId: resolvedKey.project_id,
    keyId: resolvedKey.key_id,
    requestId: request.id,
    endUser: recordedEndUserOf(identity.body),
    scopeHash: typeof semanticQuery === 'string' ? null : hashScope(semanticQuery.verdictScope),
    isShadow,
    promptTokens,
    completionTokens,
    savedUsd: provider && query ? (computeCostUsd(catalogue.find(provider.pricedAs, query.model), usage) ?? 0) : 0,
  }
}

/** Characters that are logged of the request, and of the response. Longer texts are truncated. */
const MAX_CHARS = 131_072

/** Returns the texts of a request and its response. `response` is a body, or the failure in place of one. */
export function readRequestContent(
  query: RecordedQuery & { text?: string; isLarge?: boolean },
  response: unknown,
): RequestContent {
  return { request: query.isLarge || !query.text ? null : truncate(query.text), response: readResponseText(response) }
}

function readResponseText(response: unknown): string | null {
  if (typeof response === 'string') return truncate(response)
  if (response instanceof Uint8Array) return truncate(new TextDecoder().decode(response.subarray(0, 4 * MAX_CHARS)))
  if (response instanceof ProxyError) return truncate(JSON.stringify(response.toBody()))
  return typeof response === 'object' && response !== null && 'body' in response
    ? readResponseText(response.body)
    : null
}

function truncate(text: string): string {
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS).toWellFormed()}…`
}

const INFO = 30

/** Returns the fields of a finished request's log line. */
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
