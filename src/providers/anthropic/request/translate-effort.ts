/** Translates `reasoning_effort` into Anthropic's thinking settings. */
import type { OutputConfig, ThinkingConfigParam } from '@anthropic-ai/sdk/resources/messages'
import { invalidRequestError } from '../../../errors/errors.ts'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { readEnum, readOptional } from '../../../formats/json/read-fields.ts'
import { EFFORT_LEVELS, type EffortLevel, type ModelTraits } from '../model-traits.ts'

export interface ThinkingSettings {
  thinking?: ThinkingConfigParam
  effort?: NonNullable<OutputConfig['effort']>
}

const LEVELS = ['none', 'minimal', ...EFFORT_LEVELS] as const

/** The thinking tokens for models with a budget. Anthropic's minimum is 1,024. */
const BUDGETS: Record<EffortLevel | 'minimal', number> = {
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 49_152,
}
const MIN_BUDGET = BUDGETS.minimal

/** Returns no settings when the request sets no effort: the model's default applies. `maxTokens` limits thinking and output together. */
export function translateEffort(body: JsonObject, traits: ModelTraits, maxTokens: number): ThinkingSettings {
  const requested = readOptional(body, 'reasoning_effort')
  if (requested === undefined) return {}
  const level = readEnum(requested, 'reasoning_effort', LEVELS)
  if (level === 'none') return { thinking: disabledThinking(traits) }
  if (traits.thinking === 'budget') return { thinking: createBudget(BUDGETS[level], maxTokens) }
  const effort = nearestEffort(level === 'minimal' ? 'low' : level, traits.efforts)
  return { thinking: { type: 'adaptive', display: 'summarized' }, effort }
}

function disabledThinking({ disabledType }: ModelTraits): ThinkingConfigParam {
  if (disabledType !== null) return { type: disabledType }
  throw invalidRequestError('reasoning_effort must not be none: this model always thinks. Use low.', 'reasoning_effort')
}

/** Returns a thinking budget of at most half of all tokens, so that the rest remains for the output. Throws a 400 when it would be too small. */
function createBudget(tokens: number, maxTokens: number): ThinkingConfigParam {
  const budget = Math.min(tokens, Math.floor(maxTokens / 2))
  if (budget >= MIN_BUDGET) return { type: 'enabled', budget_tokens: budget }
  throw invalidRequestError(
    `reasoning_effort needs max_completion_tokens of at least ${MIN_BUDGET * 2} on this model.`,
    'reasoning_effort',
  )
}

/** Returns the level itself if the model has it, or else the highest level below it. */
function nearestEffort(level: EffortLevel, levels: readonly EffortLevel[]): EffortLevel {
  const upToLevel = EFFORT_LEVELS.slice(0, EFFORT_LEVELS.indexOf(level) + 1)
  return upToLevel.findLast(effort => levels.includes(effort)) ?? 'low'
}
