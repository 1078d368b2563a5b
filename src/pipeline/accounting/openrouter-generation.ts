/**
 * A generation of OpenRouter's: `GET /generation?id=` says what it cost, some seconds after its response, also one that was cut.
 * https://openrouter.ai/docs/api-reference/get-a-generation
 */
import { AGGREGATOR } from '../../catalogue/catalogue.ts'
import { isJsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import type { TokenUsage } from '../../formats/token-usage.ts'
import { readUsage } from '../../formats/usage/read-usage.ts'
import type { Provider } from '../../providers/upstream.ts'

const ID = /^gen-[\w-]+$/

export function isGenerationId({ provider, id }: { provider: Pick<Provider, 'kind'>; id: string }): boolean {
  return provider.kind === AGGREGATOR && ID.test(id)
}

/** Null where it does not say. */
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
