/** What the translation of an answer has to know of its request. */
import type { JsonObject } from '../../../json/json-object.ts'
import { asksForJsonObject } from '../request/translate-format.ts'
import { translateStop } from '../request/translate-sampling.ts'
import { usesLegacyFunctions } from '../request/translate-tool-choice.ts'

export interface AnswerContext {
  /** OpenAI's `created`: Anthropic's answers bear no time. */
  createdSeconds: number
  /** The answer is JSON by instruction: a code fence around it is taken off. */
  isJsonObject: boolean
  /** A call is told as `function_call`. */
  usesLegacyFunctions: boolean
  /** Sequences that Anthropic was not told to stop at, and that end the answer here. */
  ownStops: readonly string[]
}

export function readAnswerContext(body: JsonObject, nowMs: number): AnswerContext {
  return {
    createdSeconds: Math.floor(nowMs / 1000),
    isJsonObject: asksForJsonObject(body),
    usesLegacyFunctions: usesLegacyFunctions(body),
    ownStops: translateStop(body).own,
  }
}
