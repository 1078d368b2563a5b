/** The page of one request: result, errors, timing, cost, and all recorded fields. */

import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { describeReason } from '../../../cache/reasons.ts'
import { Badge, Card, CopyButton, ErrorMessage, Loading, PageHeader, UserText } from '../components/elements.tsx'
import { Table } from '../components/table.tsx'
import { escapeControlCharacters, formatMs, formatTime, formatUsd, isolateDirection } from '../format.ts'
import { useProject } from '../session.ts'
import type { RequestLogEntry } from '../types.ts'
import { CacheDecision } from './cache-decision.tsx'
import { RequestContent } from './request-content.tsx'
import { DetailItem, RequestCost } from './request-cost.tsx'
import { ResultBadge } from './result-badge.tsx'

export default function RequestDetails() {
  const project = useProject()
  const { request: id = '' } = useParams({ strict: false })
  const request = useQuery<RequestLogEntry>({
    queryKey: [`/v1/requests/${id}`, { project_id: project?.id }],
    enabled: project !== null,
    // A finished request does not change.
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <>
      <PageHeader
        title="Request details"
        action={
          <Link
            to={`/${project?.id}/requests` as never}
            search={(filters: object) => filters as never}
            className="font-medium text-accent underline"
          >
            All requests
          </Link>
        }
      />
      <ErrorMessage error={request.error} />
      {request.data ? <Details request={request.data} projectId={project?.id ?? ''} /> : !request.error && <Loading />}
    </>
  )
}

function explain(request: RequestLogEntry): string {
  const { provider, status, cache_result: result, cache_reason: reason, asked_model, attempts } = request

  if (status === 499) return 'The client disconnected before the response was complete.'
  if (status >= 400 && attempts === null) return `Rejected with ${status} before any provider was called.`
  if (status >= 400) return `Failed with ${status}. Nothing was cached.`
  const createdBy = provider === null ? '' : ` The response was created by ${provider}.`

  if (result === 'HIT') return `Served from the cache.${createdBy}`
  if (result === 'HIT-SEMANTIC')
    return `Served from the cache, because it was created for a question with the same meaning.${createdBy}`
  const cause = reason === null ? 'No cached response matched.' : describeReason(reason)
  const models = [asked_model ?? '', request.model].map(isolateDirection)
  const hasFallback = asked_model !== null && request.fallbacks !== null
  const fallback = hasFallback ? ` ${models[0]} failed, and the fallback ${models[1]} responded.` : ''
  const forwarded = provider === null ? '' : ` Forwarded to ${provider}.`
  return `${cause}${forwarded}${request.streamed ? ' Streamed to the client.' : ''}${fallback}`
}

function Details({ request, projectId }: { request: RequestLogEntry; projectId: string }) {
  return (
    <div className="space-y-5">
      <Card className="space-y-4 p-4">
        <p className="flex flex-wrap items-center gap-2">
          <ResultBadge result={request.cache_result} />
          {request.status >= 400 && <Badge look="bad">{request.status}</Badge>}
          <span className="min-w-0 [overflow-wrap:anywhere]">{explain(request)}</span>
        </p>
        <ErrorDetails request={request} />
        <Timing request={request} />
      </Card>
      <Card className="p-4">
        <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-2 lg:grid-cols-3">
          <RequestFields request={request} />
          <CacheFields request={request} projectId={projectId} />
          <RequestCost request={request} projectId={projectId} />
          <OtherFields request={request} />
        </dl>
        <div className="mt-4 flex flex-wrap items-center justify-between gap-2 border-t border-line pt-4">
          <span className="min-w-0 text-xs text-muted">
            Request ID <code className="font-mono break-all text-ink">{request.request_id}</code>
          </span>
          <CopyButton text={request.request_id} label="Copy ID" />
        </div>
      </Card>
      {request.attempt_list && <Attempts request={request} />}
      <RequestContent request={request} projectId={projectId} />
    </div>
  )
}

function ErrorDetails({ request }: { request: RequestLogEntry }) {
  const { error_code, error_message, upstream_status, upstream_message } = request
  if (error_code === null && upstream_status === null) return null
  return (
    <div className="space-y-1.5 rounded-lg bg-danger-soft px-3 py-2 text-danger">
      {error_code !== null && (
        <p className="[overflow-wrap:anywhere]">
          <code className="font-mono text-xs font-semibold">{error_code}</code>{' '}
          <bdi>{escapeControlCharacters(error_message ?? '')}</bdi>
        </p>
      )}
      {upstream_status !== null && (
        <p className="[overflow-wrap:anywhere]">
          The provider responded with status {upstream_status}
          {upstream_message !== null && (
            <>
              : <bdi>{escapeControlCharacters(upstream_message)}</bdi>
            </>
          )}
        </p>
      )}
    </div>
  )
}

function Attempts({ request: { attempt_list } }: { request: RequestLogEntry }) {
  return (
    <Card>
      <Table
        label="Attempts"
        rows={attempt_list?.map((attempt, at) => ({ ...attempt, id: `${at}` })) ?? []}
        keyOf={({ id }) => id}
        empty={null}
        columns={[
          { title: 'Model called', cell: ({ model }) => model },
          { title: 'Provider', cell: ({ provider, key }) => provider + (key === null ? '' : `, key ${key}`) },
          {
            title: 'Result',
            cell: ({ kind, status }) => [status, kind?.replaceAll('_', ' ')].filter(Boolean).join(' '),
          },
          { title: 'Time', numeric: true, cell: ({ ms }) => formatMs(ms) },
        ]}
      />
    </Card>
  )
}

function RequestFields({ request }: { request: RequestLogEntry }) {
  const { asked_model, model, streamed } = request
  const tags = Object.entries(request.tags ?? {}).map(([name, value]) => `${name}=${value}`)
  return (
    <>
      <DetailItem title="Finished">{formatTime(request.recorded_at)}</DetailItem>
      <DetailItem title="Endpoint">
        {request.endpoint}
        {streamed ? ', streamed' : ''}
      </DetailItem>
      <DetailItem title="Status">{request.status}</DetailItem>
      <OptionalDetail title={asked_model === null ? 'Model' : 'Model used'} name={model || 'unknown'} />
      <OptionalDetail title="Requested model" name={asked_model} />
      <DetailItem title="Provider">{request.provider ?? 'none'}</DetailItem>
      <OptionalDetail title="Provider keys used" name={request.provider_keys} />
      <DetailItem title="Provider calls">{request.attempts ?? 'none'}</DetailItem>
      <DetailItem title="API key">
        {request.key_name !== null && <UserText>{request.key_name}</UserText>}
        <code className="font-mono text-xs text-muted">{request.api_key_redacted_value}</code>
      </DetailItem>
      <OptionalDetail title="End user" name={request.end_user} look="" />
      <OptionalDetail title="Tags" name={tags.join(', ') || null} look="" />
    </>
  )
}

function CacheFields({ request, projectId }: { request: RequestLogEntry; projectId: string }) {
  const { cache_reason: reason, cache_id } = request
  if (reason === null && cache_id === null) return null
  const isHit = request.cache_result === 'HIT' || request.cache_result === 'HIT-SEMANTIC'
  return (
    <>
      {reason !== null && (
        <DetailItem title="Reason for the cache result">
          {describeReason(reason)} <code className="font-mono text-xs text-muted">{reason}</code>
        </DetailItem>
      )}
      {cache_id !== null && (
        <DetailItem title={isHit ? 'Cached response' : 'Nearest cached response'}>
          <code className="font-mono text-xs break-all">{cache_id}</code>
        </DetailItem>
      )}
      <CacheDecision request={request} projectId={projectId} />
    </>
  )
}

/** The columns that the page shows in a specific place. */
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
function OtherFields({ request }: { request: RequestLogEntry }) {
  const others = Object.entries(request).filter(([column, value]) => value !== null && !SHOWN_COLUMNS.has(column))
  return others.map(([column, value]) => (
    <OptionalDetail key={column} title={formatColumnName(column)} name={format(column, value)} look="" />
  ))
}

const COLUMN_TITLES: Readonly<Record<string, string>> = { asked_id: 'Request fingerprint', refreshed: 'Cache bypassed' }

function formatColumnName(column: string): string {
  if (Object.hasOwn(COLUMN_TITLES, column)) return COLUMN_TITLES[column] ?? column

  const words = column.replace(/_(ms|usd)$/, '').replaceAll('_', ' ')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

function format(column: string, value: unknown): string {
  if (typeof value === 'number' && column.endsWith('_ms')) return formatMs(value)
  if (typeof value === 'number' && column.endsWith('_usd')) return formatUsd(value)
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'

  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Splits a request's duration into consecutive phases. The time of an unknown phase counts towards the next one. */
function listPhases(request: RequestLogEntry): { title: string; look: string; ms: number }[] {
  const { admission_ms, lookup_ms, embed_ms, upstream_ms, latency_ms, duration_ms } = request
  const known = [
    { title: 'Key and limits', look: 'bg-miss', ms: admission_ms ?? 0 },
    {
      title: embed_ms === null ? 'Lookup' : `Lookup (embedding ${formatMs(embed_ms)})`,
      look: 'bg-semantic',
      ms: lookup_ms ?? 0,
    },
    { title: 'Provider, to first byte', look: 'bg-warn', ms: upstream_ms ?? 0 },
  ]
  const rest = latency_ms - known.reduce((sum, { ms }) => sum + ms, 0)
  return [
    ...known,
    { title: 'Other, before the first byte', look: 'bg-muted', ms: Math.max(0, rest) },
    { title: 'First to last byte', look: 'bg-exact', ms: Math.max(0, duration_ms - latency_ms) },
  ].filter(({ ms }) => ms > 0)
}

function Timing({ request }: { request: RequestLogEntry }) {
  const parts = listPhases(request)
  const total = parts.reduce((sum, { ms }) => sum + ms, 0)
  return (
    <div>
      <div className="flex h-3 overflow-hidden rounded-full bg-sunken" aria-hidden="true">
        {parts.map(({ title, look, ms }) => (
          <div key={title} className={look} style={{ width: `${(100 * ms) / total}%` }} />
        ))}
      </div>
      <ul className="mt-1.5 flex flex-wrap gap-x-5 gap-y-1 text-xs text-muted">
        {parts.map(({ title, look, ms }) => (
          <li key={title} className="flex items-center gap-1.5">
            <span className={`size-2.5 rounded-sm ${look}`} />
            {title} <b className="font-medium text-ink">{formatMs(ms)}</b>
          </li>
        ))}
        <li>
          Total <b className="font-medium text-ink">{formatMs(request.duration_ms)}</b>
        </li>
        {request.first_chunk_ms !== null && (
          <li>
            First chunk after <b className="font-medium text-ink">{formatMs(request.first_chunk_ms)}</b>
          </li>
        )}
      </ul>
    </div>
  )
}

/** A detail that is omitted when its value is null. */
function OptionalDetail({
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
