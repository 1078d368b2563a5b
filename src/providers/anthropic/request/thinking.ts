/** Translates `reasoning_effort` into Anthropic's thinking settings, and selects the thinking blocks that are sent back to the model. */
import type { OutputConfig, ThinkingConfigParam } from '@anthropic-ai/sdk/resources/messages'
import { invalidRequestError } from '../../../errors/errors.ts'
import { asString, type JsonObject } from '../../../formats/json/canonical.ts'
import { readEnum, readOptional } from '../../../formats/json/read-fields.ts'
import { isThinkingBlock } from '../../../formats/messages/assemble-message.ts'
import type { Conversation, Turn } from './translate-messages.ts'

/** The effort levels from lowest to highest. */
const EFFORT_LEVELS = ['low', 'medium', 'high', 'xhigh', 'max'] as const
type EffortLevel = (typeof EFFORT_LEVELS)[number]

/** The differences between Claude models in how a request sets thinking and effort. */
interface ModelTraits {
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

export interface ThinkingSettings {
  thinking?: ThinkingConfigParam
  effort?: NonNullable<OutputConfig['effort']>
}

/** Returns the settings, and the turns with the thinking blocks that belong to them. `maxTokens` limits thinking and output together. */
export function translateThinking(
  body: JsonObject,
  anthropicFields: JsonObject,
  maxTokens: number,
  conversation: Conversation,
): ThinkingSettings & { turns: Turn[] } {
  const traits = modelTraitsOf(asString(body.model))
  const requested = translateEffort(body, traits, maxTokens)
  const isThinking = isThinkingEnabled(requested.thinking ?? anthropicFields.thinking, traits)
  const turns = keepCurrentThinkingBlocks(conversation, isThinking)
  // With a budget, Anthropic requires the thinking blocks before the calls. For a client that omits them, thinking is turned off.
  if (requested.thinking?.type !== 'enabled' || startsWithThinkingBlock(turns)) return { ...requested, turns }
  return { turns: keepCurrentThinkingBlocks(conversation, false) }
}

function isThinkingEnabled(thinking: unknown, { thinksByDefault }: ModelTraits): boolean {
  if (typeof thinking !== 'object' || thinking === null) return thinksByDefault
  return !('type' in thinking && thinking.type === 'disabled')
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

/** Returns no settings when the request sets no effort: the model's default applies. */
function translateEffort(body: JsonObject, traits: ModelTraits, maxTokens: number): ThinkingSettings {
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

/**
 * Keeps only the thinking blocks of the current exchange of calls and results, which Anthropic requires. Blocks of finished turns are valid
 * only in their exact conversation, and a cached response may come from another one. The same applies to blocks before a system message,
 * because system messages are moved to the front.
 */
function keepCurrentThinkingBlocks({ turns, lastSystemAt }: Conversation, isThinking: boolean): Turn[] {
  const exchangeStart = findExchangeStart(turns)
  const keepsBlocks = isThinking && (turns[exchangeStart]?.startsAt ?? 0) > lastSystemAt
  return turns.map((turn, index) =>
    keepsBlocks && index >= exchangeStart
      ? turn
      : { ...turn, content: turn.content.filter(block => !isThinkingBlock(block)) },
  )
}

/** Returns whether the assistant turn before the last results begins with a thinking block, or the last turn has no results. */
function startsWithThinkingBlock(turns: readonly Turn[]): boolean {
  const last = turns.at(-1)
  const before = turns.at(-2)
  if (!last || !before || !hasResults(last)) return true
  const [first] = before.content
  return first !== undefined && isThinkingBlock(first)
}

/** Returns the index of the turn where the current exchange of calls and results begins; the number of turns when there is none. */
function findExchangeStart(turns: readonly Turn[]): number {
  const lastQuestion = turns.findLastIndex(turn => turn.role === 'user' && !hasResults(turn))
  return lastQuestion + 1
}

function hasResults({ content }: Turn): boolean {
  return content[0]?.type === 'tool_result'
}
