/** The fields of a request that its page shows nowhere else. */
import { UserText } from '../components/elements.tsx'
import { formatMs, formatUsd } from '../format.ts'
import type { RequestLogEntry } from '../types.ts'
import { DetailItem } from './request-cost.tsx'

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
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

function format(column: string, value: unknown): string {
  if (typeof value === 'number' && column.endsWith('_ms')) return formatMs(value)
  if (typeof value === 'number' && column.endsWith('_usd')) return formatUsd(value)
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'

  return typeof value === 'string' ? value : JSON.stringify(value)
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
