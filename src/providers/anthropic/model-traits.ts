/** How Claude models differ in what a request may ask of them. */

/** From the least to the most. */
export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof EFFORTS)[number]

export interface ModelTraits {
  /** `adaptive`: the model decides how much to think, guided by an effort; `budget`: the request sets a number of tokens. */
  thinking: 'adaptive' | 'budget'
  /** The levels it takes; none where thinking goes by budget. */
  efforts: readonly Effort[]
  /** It thinks where the request does not say. */
  thinksByDefault: boolean
  /** The thinking type that asks for none; null where a model always thinks. */
  off: 'disabled' | 'between_tools' | null
}

const BUDGET: ModelTraits = { thinking: 'budget', efforts: [], thinksByDefault: false, off: 'disabled' }
const ADAPTIVE: ModelTraits = { thinking: 'adaptive', efforts: EFFORTS, thinksByDefault: true, off: 'disabled' }

/**
 * The first that matches holds. From Anthropic's pages on thinking and effort, and the types of its SDK, November 2026.
 * Only what decides how a request is written is here: what a model refuses, it says best itself.
 */
const TRAITS: readonly [RegExp, ModelTraits][] = [
  [/^claude-(?:[23]|instant)|^claude-(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8}|-latest|@|$)/, BUDGET],
  [/^claude-(?:opus|sonnet)-4-6/, { ...ADAPTIVE, efforts: ['low', 'medium', 'high', 'max'], thinksByDefault: false }],
  [/^claude-opus-4-/, { ...ADAPTIVE, thinksByDefault: false }],
  [/^claude-sonnet-5-5/, { ...ADAPTIVE, off: 'between_tools' }],
  [/^claude-(?:opus-5-5|fable|mythos)/, { ...ADAPTIVE, off: null }],
]

/** Models that are not known are taken for the newest. */
export function traitsOf(model: string): ModelTraits {
  return TRAITS.find(([pattern]) => pattern.test(model))?.[1] ?? ADAPTIVE
}
