/** The time of a request by phase. */
import { formatMs } from '../format.ts'
import type { RequestLogEntry } from '../types.ts'

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

export function RequestTiming({ request }: { request: RequestLogEntry }) {
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
