/** Describes models as LiteLLM's proxy does at `/model/info`, for clients that read limits, prices and capabilities there. */
import type { CatalogueModel } from '../../postgres/list-models.ts'
import type { AvailableModel } from '../../providers/aggregator-models.ts'

export interface LiteLlmModelInfo {
  model_name: string
  litellm_params: { model: string }
  model_info: Record<string, unknown> & { id: string }
}

/** LiteLLM's names for kinds of models. */
const MODES: Record<CatalogueModel['kind'], string> = {
  chat: 'chat',
  completion: 'completion',
  embedding: 'embedding',
  image: 'image_generation',
  moderation: 'moderation',
  rerank: 'rerank',
  speech: 'audio_speech',
  transcription: 'audio_transcription',
}

/** `name` is the model name in requests, `owner` the vendor or provider. Unknown fields are null. */
export function createLiteLlmModelInfo(name: string, model: AvailableModel, owner: string): LiteLlmModelInfo {
  const base = { id: name, key: model.model, db_model: false, litellm_provider: owner }
  const model_info = model.kind === null ? { ...base, mode: null } : { ...base, ...describeKnown(model) }
  return { model_name: name, litellm_params: { model: model.model }, model_info }
}

function describeKnown(model: CatalogueModel) {
  const { kind, contextTokens, maxOutputTokens, capabilities } = model
  const has = (capability: string) => capabilities.includes(capability)
  return {
    mode: MODES[kind],
    max_tokens: maxOutputTokens ?? contextTokens,
    max_input_tokens: contextTokens,
    max_output_tokens: maxOutputTokens,
    ...describePrices(model),
    supports_function_calling: has('tools'),
    supports_tool_choice: has('tools'),
    supports_vision: has('images'),
    supports_audio_input: has('audio'),
    supports_pdf_input: has('files'),
    supports_reasoning: has('reasoning'),
    supports_response_schema: has('structured_output'),
    supports_prompt_caching: model.cachedInputUsdPerMillion !== null,
  }
}

/** Transcription is priced by the second and speech by the character, if the output has no price. */
function describePrices({ kind, ...prices }: CatalogueModel) {
  const input = perUnit(prices.inputUsdPerMillion)
  if (prices.outputUsdPerMillion === 0 && kind === 'transcription') return { input_cost_per_second: input }
  if (prices.outputUsdPerMillion === 0 && kind === 'speech') return { input_cost_per_character: input }
  return {
    input_cost_per_token: input,
    output_cost_per_token: perUnit(prices.outputUsdPerMillion),
    cache_read_input_token_cost: perUnit(prices.cachedInputUsdPerMillion),
    cache_creation_input_token_cost: perUnit(prices.cacheWriteUsdPerMillion),
  }
}

/** Rounds to 12 digits, so that 0.15 per million is 1.5e-7. */
function perUnit(usdPerMillion: number | null): number | null {
  return usdPerMillion === null ? null : Number((usdPerMillion / 1e6).toPrecision(12))
}
