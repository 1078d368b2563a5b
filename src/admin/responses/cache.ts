/** Response schemas of cache entries, semantic matches and verdicts. */
import { type Static, Type as t } from '@sinclair/typebox'
import { nullable } from '../../postgres/admin/schemas.ts'
import { SQL_TYPE_SCHEMAS } from '../../postgres/admin/views.generated.ts'
import { countSchema, objectSchema, textSchema } from './shared.ts'

export const cacheStatsSchema = objectSchema('CacheStats', 'cache.stats', SQL_TYPE_SCHEMAS.cache_stats)
export type CacheStats = Static<typeof cacheStatsSchema>

export const cacheScopesSchema = objectSchema('CacheScopes', 'cache.scopes', {
  scopes: t.Array(t.Object(SQL_TYPE_SCHEMAS.cache_scope_report)),
})
export type CacheScopes = Static<typeof cacheScopesSchema>

export const cacheEntryContentSchema = objectSchema('CacheEntryContent', 'cache.entry.content', {
  id: textSchema,
  question: nullable(textSchema),
  response: t.String({ description: 'The body of the response, JSON.' }),
})

export const invalidationSchema = objectSchema('Invalidation', 'cache.invalidation', {
  entries: countSchema,
  vectors: t.Integer({ minimum: 0, description: 'The number of cached embeddings.' }),
  dry_run: t.Boolean(),
})

const wordingDifference = t.Object({
  kind: textSchema,
  harmless: t.Boolean({ description: 'False if the difference prevented the match.' }),
  asked_at: countSchema,
  asked_text: textSchema,
  cached_at: countSchema,
  cached_text: textSchema,
})
export type WordingDifference = Static<typeof wordingDifference>
const wordings = t.Object({ asked: textSchema, cached: textSchema, differences: t.Array(wordingDifference) })
export type QuestionPair = Static<typeof wordings>

/** A semantic hit, or a near miss. */
export const cacheMatchSchema = t.Object(
  {
    ...SQL_TYPE_SCHEMAS.cache_match,
    id: textSchema,
    object: t.Union([t.Literal('cache.match'), t.Literal('cache.near_miss')]),
    wordings: nullable(wordings),
  },
  { $id: 'CacheMatch', description: 'A semantic hit, or a near miss.' },
)
export type CacheMatch = Static<typeof cacheMatchSchema>

export const cacheVerdictSchema = objectSchema('CacheVerdict', 'cache.verdict', {
  ...SQL_TYPE_SCHEMAS.cache_verdict,
  id: t.String({ description: 'The cursor of the list.' }),
  wordings: t.Array(nullable(textSchema), { minItems: 2, maxItems: 2 }),
})
export type CacheVerdict = Static<typeof cacheVerdictSchema>

export const contextsSchema = objectSchema('CacheContexts', 'cache.contexts', {
  contexts: t.Array(t.Object(SQL_TYPE_SCHEMAS.cache_context)),
})
export type CacheContexts = Static<typeof contextsSchema>

export const calibrationSchema = objectSchema('Calibration', 'cache.calibration', {
  histogram: t.Array(t.Object(SQL_TYPE_SCHEMAS.similarity_band)),
  calibration: t.Array(t.Object(SQL_TYPE_SCHEMAS.calibration_step)),
})
export type Calibration = Static<typeof calibrationSchema>
