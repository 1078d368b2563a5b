/**
 * Reads OpenRouter's generation records. `GET /generation?id=` returns a response's cost some seconds later, even if it was interrupted.
 * https://openrouter.ai/docs/api-reference/get-a-generation
 */
import { AGGREGATOR } from '../../catalogue/catalogue.ts'
import { isJsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import type { TokenUsage } from '../../formats/token-usage.ts'
import { readUsage } from '../../formats/usage/read-usage.ts'
import type { Provider } from '../../providers/upstream.ts'

const GENERATION_ID = /^gen-[\w-]+$/

export function isGenerationId({ provider, id }: { provider: Pick<Provider, 'kind'>; id: string }): boolean {
  return provider.kind === AGGREGATOR && GENERATION_ID.test(id)
}

/** Returns null for a field that the record does not report. */
export function readGenerationUsage(body: Uint8Array): { model: unknown; usage: TokenUsage | null } {
  const data = parseJsonObject(new TextDecoder().decode(body))?.data
  if (!isJsonObject(data)) return { model: null, usage: null }
  const usage = readUsage(
    {
      prompt_tokens: data.native_tokens_prompt ?? data.tokens_prompt,
      completion_tokens: data.native_tokens_completion ?? data.tokens_completion,
      prompt_tokens_details: { cached_tokens: data.native_tokens_cached },
      cost: data.total_cost,
      is_byok: data.is_byok,
      cost_details: { upstream_inference_cost: data.upstream_inference_cost },
    },
    data.service_tier,
  )
  return { model: data.model, usage }
}
