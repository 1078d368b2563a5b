/**
 * Rows that functions of the admin API return, as JSON. What the API answers unchanged is said as a schema, which its description has
 * too. The dashboard's pages import only types of this file.
 */
import { type Static, Type as t } from '@sinclair/typebox'
import type { RecordedRequest } from '../usage-record.ts'

export { orNull, words } from './schemas.ts'

import { orNull, words } from './schemas.ts'

const count = t.Integer({ minimum: 0 })
const text = t.String()
const usd = t.Number({ description: 'US dollars.' })

/** What requests took, and what the cache saved of it. */
const taken = {
  requests: count,
  prompt_tokens: count,
  completion_tokens: count,
  tokens_saved: count,
  cost_usd: usd,
  saved_usd: usd,
}

interface Taken extends Static<ReturnType<typeof t.Object<typeof taken>>> {
  bucket_start: string
}

export interface UsageRow extends Taken {
  project_id: number | null
  key_id: number | null
  model: string | null
  /** Of the tag that is grouped by; null for requests without it. */
  tag_value: string | null
  cached_prompt_tokens: number
}

/** Of how requests were answered. */
export const counts = {
  ...taken,
  exact_hits: count,
  semantic_hits: count,
  misses: count,
  client_errors: count,
  server_errors: count,
}

export const overviewBucket = t.Object({ ...counts, hit_duration_ms: t.Number(), miss_duration_ms: t.Number() })
export type OverviewRow = Static<typeof overviewBucket> & { bucket_start: string }

export const share = t.Object(
  { name: text, requests: count, hits: count, failed: count, tokens: count, cost_usd: usd, saved_usd: usd },
  { $id: 'Share', description: 'What one model, key or tag had of the requests.' },
)
export type ShareRow = Static<typeof share>

/** `bucket_start` is null where they are grouped by model, key or tag, `name` where they are by time. */
export type TaggedUsageRow = Taken & Pick<ShareRow, 'name' | 'hits' | 'failed'>

export const latency = t.Object(
  {
    cache_result: words('HIT', 'HIT-SEMANTIC', 'MISS'),
    requests: count,
    p50_ms: t.Number(),
    p95_ms: t.Number(),
    p99_ms: t.Number(),
  },
  { $id: 'Latency' },
)
export type LatencyRow = Static<typeof latency>

/** One request of a project, and the key it came with. */
export interface RequestRow {
  record: RecordedRequest
  key_name: string | null
  key_prefix: string | null
}

/** In PostgreSQL's text format, `\\x` and hex. */
export type RequestContentRow = Record<'sealed_request' | 'sealed_response', string | null>

export const settingKind = t.Object(
  {
    name: text,
    type: words('choice', 'number', 'whole', 'text', 'models', 'aliases'),
    preset: t.String({ description: 'What a new project has.' }),
    least: orNull(t.Number()),
    most: orNull(t.Number()),
    words: t.Array(text),
    area: t.String({ description: 'What else it stands with on a page.' }),
    title: t.String({ description: 'Its name there.' }),
    help: text,
    place: t.Integer({ description: 'Its place in the area.' }),
    choices: t.Array(text, {
      description: 'For each of the words of a choice: a title, a colon, and what it does.',
    }),
  },
  { $id: 'SettingKind' },
)
export type SettingKindRow = Static<typeof settingKind>
