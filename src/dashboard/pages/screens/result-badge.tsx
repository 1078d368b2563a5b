/** A request's cache result as a coloured badge. */
import { Badge } from '../components/elements.tsx'
import type { RequestLogEntry } from '../types.ts'

export const CACHE_RESULT_TITLES: ReadonlyMap<string, string> = new Map([
  ['HIT', 'Exact hit'],
  ['HIT-SEMANTIC', 'Semantic hit'],
  ['MISS', 'Miss'],
])

export function ResultBadge({ result }: { result: RequestLogEntry['cache_result'] }) {
  const title = result === null ? '–' : (CACHE_RESULT_TITLES.get(result) ?? result)
  if (result === 'HIT') return <Badge look="good">{title}</Badge>
  if (result === 'HIT-SEMANTIC')
    return (
      <span className="rounded-md bg-semantic-soft px-2 py-0.5 text-xs font-medium whitespace-nowrap text-semantic-strong">
        {title}
      </span>
    )
  return <Badge>{title}</Badge>
}
