/** Translates `reasoning_effort` into thinking. */
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

/** Thinking tokens on models with a budget. Anthropic's minimum is 1,024. */
const BUDGETS: Record<EffortLevel | 'minimal', number> = {
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 49_152,
}
const LEAST_BUDGET = BUDGETS.minimal

/** Empty when the request does not say: the model's default applies. `maxTokens` limits thinking and response together. */
export function translateEffort(body: JsonObject, traits: ModelTraits, maxTokens: number): ThinkingSettings {
  const given = readOptional(body, 'reasoning_effort')
  if (given === undefined) return {}
  const level = readEnum(given, 'reasoning_effort', LEVELS)
  if (level === 'none') return { thinking: turnOff(traits) }
  if (traits.thinking === 'budget') return { thinking: setBudget(BUDGETS[level], maxTokens) }
  const effort = nearestEffort(level === 'minimal' ? 'low' : level, traits.efforts)
  return { thinking: { type: 'adaptive', display: 'summarized' }, effort }
}

function turnOff({ disabledType }: ModelTraits): ThinkingConfigParam {
  if (disabledType !== null) return { type: disabledType }
  throw invalidRequestError('reasoning_effort: this model always thinks; its least is low.', 'reasoning_effort')
}

/** At most half of all tokens, which leaves room for the response. */
function setBudget(wanted: number, maxTokens: number): ThinkingConfigParam {
  const budget = Math.min(wanted, Math.floor(maxTokens / 2))
  if (budget >= LEAST_BUDGET) return { type: 'enabled', budget_tokens: budget }
  throw invalidRequestError(
    `reasoning_effort needs max_completion_tokens of at least ${LEAST_BUDGET * 2} on this model.`,
    'reasoning_effort',
  )
}

/** Returns the level itself, or the highest one below it. */
function nearestEffort(level: EffortLevel, levels: readonly EffortLevel[]): EffortLevel {
  const reach = EFFORT_LEVELS.slice(0, EFFORT_LEVELS.indexOf(level) + 1)
  return reach.findLast(effort => levels.includes(effort)) ?? 'low'
}
