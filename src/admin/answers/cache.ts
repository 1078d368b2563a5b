/** What the cache holds, its semantic matches, and what people said of them. */
import { type Static, Type as t } from '@sinclair/typebox'
import { orNull } from '../../postgres/admin/schemas.ts'
import { TYPES } from '../../postgres/admin/views.generated.ts'
import { count, objectOf, text } from './shared.ts'

export const stats = objectOf('CacheStats', 'cache.stats', TYPES.cache_stats)
export type CacheStats = Static<typeof stats>

export const scopes = objectOf('CacheScopes', 'cache.scopes', {
  scopes: t.Array(t.Object(TYPES.cache_scope_report)),
})
export type CacheScopes = Static<typeof scopes>

export const entryContent = objectOf('CacheEntryContent', 'cache.entry.content', {
  id: text,
  question: orNull(text),
  response: t.String({ description: 'The body of the answer, JSON.' }),
})

export const invalidation = objectOf('Invalidation', 'cache.invalidation', {
  entries: count,
  vectors: t.Integer({ minimum: 0, description: 'Vectors that were paid for.' }),
  dry_run: t.Boolean(),
})

const wordingDifference = t.Object({
  kind: text,
  harmless: t.Boolean({ description: 'Whether both wordings ask the same in spite of it.' }),
  asked_at: count,
  asked_text: text,
  cached_at: count,
  cached_text: text,
})
export type WordingDifference = Static<typeof wordingDifference>
const wordings = t.Object({ asked: text, cached: text, differences: t.Array(wordingDifference) })
export type Wordings = Static<typeof wordings>

/** A semantic hit, or a near miss. */
export const cacheMatch = t.Object(
  {
    ...TYPES.cache_match,
    id: text,
    object: t.Union([t.Literal('cache.match'), t.Literal('cache.near_miss')]),
    wordings: orNull(wordings),
  },
  { $id: 'CacheMatch', description: 'A semantic hit, or a near miss.' },
)
export type CacheMatch = Static<typeof cacheMatch>

export const cacheVerdict = objectOf('CacheVerdict', 'cache.verdict', {
  ...TYPES.cache_verdict,
  id: t.String({ description: 'The list’s cursor.' }),
  wordings: t.Array(orNull(text), { minItems: 2, maxItems: 2 }),
})
export type CacheVerdict = Static<typeof cacheVerdict>

export const calibrations = objectOf('Calibration', 'cache.calibration', {
  histogram: t.Array(t.Object(TYPES.similarity_band)),
  calibration: t.Array(t.Object(TYPES.calibration_step)),
})
export type Calibration = Static<typeof calibrations>
