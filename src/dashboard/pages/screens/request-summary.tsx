import { describeReason } from '../../../cache/reasons.ts'
import { Badge, Card, CopyButton, UserText } from '../components/elements.tsx'
import { Figure, Figures } from '../components/figures.tsx'
import { Table } from '../components/table.tsx'
import { escapeControlCharacters, formatCount, formatMs, formatPlural, formatTime, formatUsd } from '../format.ts'
import type { RequestLogEntry } from '../types.ts'
import { RequestMatch } from './cache-match.tsx'
import { RequestContent } from './request-content.tsx'
import { RequestCost } from './request-cost.tsx'
import { CacheDecision, DetailItem, OptionalDetail, OtherFields } from './request-fields.tsx'
import { explainRequest } from './request-reason.ts'
import { ResultBadge } from './result-badge.tsx'

/** All that is known of a request. It adapts to the width of its place: a page, or the side of the list. */
export function RequestSummary({ request, projectId }: { request: RequestLogEntry; projectId: string }) {
  return (
    <div className="space-y-5">
      <Card className="space-y-4 p-4">
        <p className="flex flex-wrap items-center gap-2">
          <ResultBadge result={request.cache_result} />
          {request.status >= 400 && <Badge look="bad">{request.status}</Badge>}
          <span className="min-w-0 [overflow-wrap:anywhere]">{explainRequest(request)}</span>
        </p>
        <ErrorDetails request={request} />
        <RequestTiming request={request} />
      </Card>
      <KeyFigures request={request} />
      <RequestMatch request={request} />
      <Card className="@container p-4">
        <dl className="grid gap-x-6 gap-y-3 @xs:grid-cols-2 @3xl:grid-cols-3">
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

/** What a request took: money, time and tokens. */
function KeyFigures({ request }: { request: RequestLogEntry }) {
  const { cost_usd, saved_usd, duration_ms, latency_ms, prompt_tokens, completion_tokens } = request
  return (
    <Figures columns={4}>
      <Figure
        title="Cost"
        value={formatUsd(cost_usd)}
        note={saved_usd > 0 ? `${formatUsd(saved_usd)} saved by the cache` : request.cost_estimated && 'estimated'}
      />
      <Figure title="Duration" value={formatMs(duration_ms)} />
      <Figure title="Time to first byte" value={formatMs(latency_ms)} />
      <Figure
        title="Tokens"
        value={formatCount(prompt_tokens + completion_tokens)}
        note={`${formatPlural(prompt_tokens, 'prompt token')}, ${formatPlural(completion_tokens, 'completion token')}`}
      />
    </Figures>
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

/** The time of a request by phase. */
function RequestTiming({ request }: { request: RequestLogEntry }) {
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
        {request.first_chunk_ms !== null && (
          <li>
            First chunk after <b className="font-medium text-ink">{formatMs(request.first_chunk_ms)}</b>
          </li>
        )}
      </ul>
    </div>
  )
}
