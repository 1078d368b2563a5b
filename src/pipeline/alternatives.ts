/** The other models that may answer a request, if it names any: they must be allowed, and may cost more. */
import { isJsonObject, type JsonObject } from '../json/canonical.ts'

/** An aggregator's `models`, and `fallbacks`: at Anthropic objects with a model, or the word `default`. */
export function alternativesOf({ models, fallbacks }: JsonObject): string[] {
  const named: unknown[] = Array.isArray(models) ? [...models] : []
  for (const fallback of [fallbacks].flat()) named.push(isJsonObject(fallback) ? fallback.model : fallback)
  return named.filter(model => typeof model === 'string')
}
