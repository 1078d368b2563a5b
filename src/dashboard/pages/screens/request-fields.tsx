/** The recorded fields of a request, for its page. */
import type { ReactNode } from 'react'
import { describeMismatch } from '../../../cache/reasons.ts'
import { TextLink, UserText } from '../components/elements.tsx'
import { capitalize, formatMs, formatUsd } from '../format.ts'
import type { RequestLogEntry } from '../types.ts'

/** The columns that are shown in a specific place. */
const SHOWN_COLUMNS: ReadonlySet<string> = new Set<keyof RequestLogEntry>([
  ...([
    'object',
    'id',
    'created_at',
    'recorded_at',
    'request_id',
    'api_key_id',
    'key_name',
    'api_key_redacted_value',
  ] as const),
  ...([
    'endpoint',
    'model',
    'asked_model',
    'fallbacks',
    'provider',
    'provider_keys',
    'streamed',
    'end_user',
    'tags',
  ] as const),
  ...(['status', 'error_code', 'error_message', 'upstream_status', 'upstream_message'] as const),
  ...(['attempts', 'attempt_list'] as const),
  ...(['cache_result', 'cache_reason', 'cache_id', 'similarity', 'cache_decision'] as const),
  ...([
    'prompt_tokens',
    'cached_prompt_tokens',
    'completion_tokens',
    'tokens_saved',
    'completion_tokens_saved',
  ] as const),
  ...(['cost_usd', 'cost_estimated', 'doubtful_usd', 'saved_usd'] as const),
  ...(['admission_ms', 'lookup_ms', 'embed_ms', 'upstream_ms', 'first_chunk_ms', 'latency_ms', 'duration_ms'] as const),
])

/** Shows all other columns of the record by name. */
export function OtherFields({ request }: { request: RequestLogEntry }) {
  const others = Object.entries(request).filter(([column, value]) => value !== null && !SHOWN_COLUMNS.has(column))
  return others.map(([column, value]) => (
    <OptionalDetail key={column} title={formatColumnName(column)} name={format(column, value)} look="" />
  ))
}

const COLUMN_TITLES: Readonly<Record<string, string>> = { asked_id: 'Request fingerprint', refreshed: 'Cache bypassed' }

function formatColumnName(column: string): string {
  if (Object.hasOwn(COLUMN_TITLES, column)) return COLUMN_TITLES[column] ?? column

  const words = column.replace(/_(ms|usd)$/, '').replaceAll('_', ' ')
  return capitalize(words)
}

function format(column: string, value: unknown): string {
  if (typeof value === 'number' && column.endsWith('_ms')) return formatMs(value)
  if (typeof value === 'number' && column.endsWith('_usd')) return formatUsd(value)
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'

  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function DetailItem({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted">{title}</dt>
      <dd className="mt-0.5 [overflow-wrap:anywhere]">{children}</dd>
    </div>
  )
}

/** A detail that is omitted when its value is null. */
export function OptionalDetail({
  title,
  name,
  look = 'font-mono text-xs',
}: {
  title: string
  name: string | null
  look?: string
}) {
  if (name === null) return null
  return (
    <DetailItem title={title}>
      <UserText className={look}>{name}</UserText>
    </DetailItem>
  )
}

type Decision = NonNullable<RequestLogEntry['cache_decision']>

const SCOPES: Record<string, string> = {
  project: 'all keys of the project',
  key: 'the same API key',
  user: 'the same end user',
}

/** Pairs from here on are listed on the Cache page. */
const LISTED_FROM = 0.8

/** Shows how the cache compared the question with others, as it was recorded when the request was served. */
export function CacheDecision({ request, projectId }: { request: RequestLogEntry; projectId: string }) {
  const { similarity, cache_decision: decision } = request
  const isHit = request.cache_result === 'HIT-SEMANTIC'
  if (similarity === null) return null
  const isListed = isHit || Math.max(similarity, decision?.cosine ?? 0) >= LISTED_FROM
  return (
    <>
      <DetailItem title="Similarity">
        {similarity.toFixed(4)}
        {decision && ` of more than ${decision.threshold} that the policy ${describePolicy(decision)} requires`}{' '}
        {isListed && (
          <TextLink
            to={`/${projectId}/cache`}
            search={{ ...(isHit ? {} : { view: 'near-misses' }), request: request.request_id }}
            className="font-medium"
          >
            Compare questions
          </TextLink>
        )}
      </DetailItem>
      {decision && <Comparison decision={decision} />}
    </>
  )
}

const describePolicy = ({ policy, risk }: Decision) => (risk === null ? policy : `${policy}, ${risk},`)

function Comparison({ decision: { compared, cosine, scope, veto, verdict, objections } }: { decision: Decision }) {
  return (
    <>
      <DetailItem title="Compared with">
        {compared === 1 ? 'One cached question' : `The ${compared} nearest cached questions`} of{' '}
        {SCOPES[scope] ?? scope}
        {cosine !== null && `; the texts look ${Math.round(100 * cosine)} % alike`}
      </DetailItem>
      {veto !== null && (
        <DetailItem title="Ruled out by">
          {veto === 'prose' ? 'One of the texts is not a plain question' : `A difference: ${describeMismatch(veto)}`}
        </DetailItem>
      )}
      {verdict !== null && <DetailItem title="Verdict">{verdict}</DetailItem>}
      {objections.length > 0 && (
        <DetailItem title="Most against it">
          {objections.map(({ number, effect }) => `${number} (${effect})`).join(', ')}
        </DetailItem>
      )}
    </>
  )
}
