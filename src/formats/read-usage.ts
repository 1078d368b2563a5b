/** Reads what an answer says that it took. */
import { isJsonObject, type JsonObject } from './json/canonical.ts'
import { countTokens as count, type TokenUsage, type ToolCalls, USUAL_TIERS, type UsagePart } from './token-usage.ts'

/** For one answer. */
const MOST_REPORTED_USD = 100_000

/**
 * Reads OpenAI's `usage` object, with the aggregator's `usage.cost`. Null when there is none. `tier` is the answer's `service_tier`; what
 * tools were called is in its output.
 */
export function readUsage(usage: unknown, tier?: unknown, called?: ToolCalls): TokenUsage | null {
  if (!isJsonObject(usage)) return null
  const details = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const written = count(details.cache_write_tokens)
  const writtenForAnHour = count(details.cache_write_1h_tokens)
  const spoken = isJsonObject(usage.completion_tokens_details) ? count(usage.completion_tokens_details.audio_tokens) : 0
  const cached = isJsonObject(details.cached_tokens_details) ? details.cached_tokens_details : {}
  const heardBefore = count(cached.audio_tokens)
  const [heard, seen] = [count(details.audio_tokens), count(details.image_tokens)]
  const toolCalls = called ?? { search: count(usage.web_searches) }
  const counted = tierOf(usage, tier)
  const whole = {
    promptTokens: count(usage.prompt_tokens),
    cachedPromptTokens: count(details.cached_tokens),
    ...(written > 0 && { cacheWriteTokens: written }),
    ...(writtenForAnHour > 0 && { cacheWriteHourTokens: writtenForAnHour }),
    ...(counted !== null && { tier: counted }),
    completionTokens: count(usage.completion_tokens),
    ...(heard > 0 && { audioPromptTokens: heard }),
    ...(heardBefore > 0 && { cachedAudioPromptTokens: heardBefore }),
    ...(seen > 0 && { imagePromptTokens: seen }),
    ...(spoken > 0 && { audioCompletionTokens: spoken }),
    ...(Object.values(toolCalls).some(calls => calls > 0) && { toolCalls }),
    reportedCostUsd: readAmount(usage.cost, MOST_REPORTED_USD),
  }
  return withParts(whole, usage.iterations)
}

/** Anthropic's speed and region decide its price, not its service tier. */
function tierOf({ speed, inference_geo: region }: JsonObject, tier: unknown): string | null {
  const dearer = [speed === 'standard' ? null : speed, WIDEST.includes(region) ? null : region]
  const named = dearer.filter(name => typeof name === 'string').join('-')
  if (named !== '') return named
  return typeof tier === 'string' && !USUAL_TIERS.includes(tier) ? tier : null
}

/** Regions that cost nothing more. */
const WIDEST: readonly unknown[] = ['global', 'not_available', '']

/**
 * Calls of models within one answer, in chat's form with their models: where one summed up the conversation, advised, or answered in the
 * place of another, the counts of the whole leave its tokens out.
 */
function withParts(whole: TokenUsage, iterations: unknown): TokenUsage {
  if (!Array.isArray(iterations)) return whole
  const parts = iterations.filter(isJsonObject).flatMap(({ model, ...counts }): UsagePart[] => {
    const usage = readUsage({ ...counts, iterations: null }, whole.tier)
    return usage ? [{ model: typeof model === 'string' ? model : null, usage }] : []
  })
  return joinParts(whole, parts)
}

/** The whole with the tokens of all parts; unless they are fewer than its own, which is no account of them. */
export function joinParts(whole: TokenUsage, parts: readonly UsagePart[]): TokenUsage {
  const sum = (of: 'promptTokens' | 'cachedPromptTokens' | 'completionTokens') =>
    count(parts.reduce((tokens, { usage }) => tokens + usage[of], 0))
  const [promptTokens, completionTokens] = [sum('promptTokens'), sum('completionTokens')]
  if (promptTokens < whole.promptTokens || completionTokens < whole.completionTokens) return whole
  return { ...whole, promptTokens, completionTokens, cachedPromptTokens: sum('cachedPromptTokens'), parts }
}

/** What a provider says of itself, such as a cost; null where it says nothing, or what cannot be and no record could hold. */
export function readAmount(value: unknown, most: number): number | null {
  return typeof value === 'number' && value >= 0 && value <= most ? value : null
}
