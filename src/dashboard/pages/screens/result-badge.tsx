/** A request's cache result as a coloured badge. */
import { Badge } from '../components/elements.tsx'
import type { RequestLogEntry } from '../types.ts'

export function ResultBadge({ result }: { result: RequestLogEntry['cache_result'] }) {
  if (result === 'HIT') return <Badge look="good">HIT</Badge>
  if (result === 'HIT-SEMANTIC')
    return (
      <span className="rounded-md bg-semantic-soft px-2 py-0.5 text-xs font-medium whitespace-nowrap text-semantic-strong">
        HIT-SEMANTIC
      </span>
    )
  return <Badge>{result ?? '–'}</Badge>
}
