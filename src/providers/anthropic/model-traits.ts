/** The differences between Claude models in how a request sets thinking and effort. */

/** The effort levels from lowest to highest. */
export const EFFORT_LEVELS = ['low', 'medium', 'high', 'xhigh', 'max'] as const
export type EffortLevel = (typeof EFFORT_LEVELS)[number]

export interface ModelTraits {
  /** `adaptive`: the model decides how much to think, guided by an effort; `budget`: the request sets a number of tokens. */
  thinking: 'adaptive' | 'budget'
  /** The effort levels that the model accepts; empty for a token budget. */
  efforts: readonly EffortLevel[]
  /** Whether the model thinks when the request does not set thinking. */
  thinksByDefault: boolean
  /** The thinking type that turns thinking off; null when the model always thinks. */
  disabledType: 'disabled' | 'between_tools' | null
}

const BUDGET: ModelTraits = { thinking: 'budget', efforts: [], thinksByDefault: false, disabledType: 'disabled' }
const ADAPTIVE: ModelTraits = {
  thinking: 'adaptive',
  efforts: EFFORT_LEVELS,
  thinksByDefault: true,
  disabledType: 'disabled',
}

/**
 * The first match wins. Sources: Anthropic's pages on thinking and effort, and the types of its SDK, November 2026. The table contains only
 * traits that change how a request is written. Anthropic itself rejects other fields that a model does not accept.
 */
const TRAITS: readonly [RegExp, ModelTraits][] = [
  [/^claude-(?:[23]|instant)|^claude-(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8}|-latest|@|$)/, BUDGET],
  [/^claude-(?:opus|sonnet)-4-6/, { ...ADAPTIVE, efforts: ['low', 'medium', 'high', 'max'], thinksByDefault: false }],
  [/^claude-opus-4-/, { ...ADAPTIVE, thinksByDefault: false }],
  [/^claude-sonnet-5-5/, { ...ADAPTIVE, disabledType: 'between_tools' }],
  [/^claude-(?:opus-5-5|fable|mythos)/, { ...ADAPTIVE, disabledType: null }],
]

/** Unknown models are treated as the newest. */
export function modelTraitsOf(model: string): ModelTraits {
  return TRAITS.find(([pattern]) => pattern.test(model))?.[1] ?? ADAPTIVE
}
