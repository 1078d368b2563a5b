/** One request in full: its key, how it was answered, how long each part took, what it cost. */
import type { ReactNode } from 'react'
import { CopyButton } from '../components/basics.tsx'
import { Dialog } from '../components/dialog.tsx'
import { formatCount, formatMs, formatTime, formatUsd } from '../format.ts'
import type { ProxyRequest } from '../types.ts'
import { ResultBadge } from './result-badge.tsx'

function explain(request: ProxyRequest): string {
  const from = request.provider ?? 'nobody'
  if (request.status >= 400) {
    if (request.status === 499) return 'The client disconnected before the answer was complete.'
    return request.cache_result === null
      ? `It was refused with ${request.status} before the cache lookup.`
      : `It failed with ${request.status}; nothing was stored.`
  }
  if (request.cache_result === 'HIT')
    return `Exactly this request had been answered before, by ${from}, or was being answered. No upstream was asked for it.`
  if (request.cache_result === 'HIT-SEMANTIC')
    return `A question that means the same had been answered before, by ${from}. No upstream was asked.`
  return `Nothing stored fitted, so ${from} was asked${request.streamed ? ', and its stream passed on as it came' : ''}.`
}

export function RequestStory({ request, onClose }: { request: ProxyRequest; onClose(): void }) {
  return (
    <Dialog title="One request" onClose={onClose} wide>
      <div className="space-y-5">
        <p className="flex flex-wrap items-center gap-2">
          <ResultBadge result={request.cache_result} />
          <span>{explain(request)}</span>
        </p>
        <Timing request={request} />
        <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-2">
          <Fact title="Answered">{formatTime(request.recorded_at)}</Fact>
          <Fact title="Status">{request.status}</Fact>
          <Fact title="Model">
            <span className="font-mono text-xs">{request.model}</span>
          </Fact>
          <Fact title="Provider">{request.provider ?? 'none was reached'}</Fact>
          <Fact title="Endpoint">
            {request.endpoint}
            {request.streamed ? ', streamed' : ''}
          </Fact>
          <Fact title="API key">
            {request.key_name} <code className="font-mono text-xs text-muted">{request.api_key_redacted_value}</code>
          </Fact>
          <Fact title="Prompt tokens charged">
            {formatCount(request.prompt_tokens)}
            {request.cached_prompt_tokens > 0 && (
              <span className="text-muted"> ({formatCount(request.cached_prompt_tokens)} cached upstream)</span>
            )}
          </Fact>
          <Fact title="Completion tokens charged">{formatCount(request.completion_tokens)}</Fact>
          <Fact title="Cost">{formatUsd(request.cost_usd)}</Fact>
          <Fact title="Saved">
            {formatUsd(request.saved_usd)}, {formatCount(request.tokens_saved)} prompt tokens
          </Fact>
        </dl>
        <div className="flex flex-wrap items-center justify-between gap-2 border-t border-line pt-4">
          <span className="min-w-0 text-xs text-muted">
            Request ID <code className="font-mono break-all text-ink">{request.request_id}</code>
          </span>
          <CopyButton text={request.request_id} label="Copy ID" />
        </div>
      </div>
    </Dialog>
  )
}

function Timing({ request }: { request: ProxyRequest }) {
  const after = Math.max(0, request.duration_ms - request.latency_ms)
  const firstShare = request.duration_ms === 0 ? 100 : (100 * request.latency_ms) / request.duration_ms
  return (
    <div>
      <div className="flex h-3 overflow-hidden rounded-full bg-sunken" aria-hidden="true">
        <div className="bg-semantic" style={{ width: `${firstShare}%` }} />
        <div className="bg-exact" style={{ width: `${100 - firstShare}%` }} />
      </div>
      <p className="mt-1.5 flex flex-wrap gap-x-5 text-xs text-muted">
        <span className="flex items-center gap-1.5">
          <span className="size-2.5 rounded-sm bg-semantic" />
          To the first byte <b className="font-medium text-ink">{formatMs(request.latency_ms)}</b>
        </span>
        <span className="flex items-center gap-1.5">
          <span className="size-2.5 rounded-sm bg-exact" />
          From there to the last <b className="font-medium text-ink">{formatMs(after)}</b>
        </span>
      </p>
    </div>
  )
}

function Fact({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted">{title}</dt>
      <dd className="mt-0.5 break-words">{children}</dd>
    </div>
  )
}
