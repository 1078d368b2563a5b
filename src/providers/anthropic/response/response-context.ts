/** What the translation of a response needs to know about its request. */
import type { JsonObject } from '../../../formats/json/canonical.ts'
import type { ClientTools } from '../request/adapt-tools.ts'
import { isJsonObjectRequested } from '../request/translate-format.ts'
import { translateStopSequences } from '../request/translate-sampling.ts'
import { usesLegacyFunctions } from '../request/translate-tool-choice.ts'

export interface AnthropicResponseContext {
  /** Who answers, for errors; Anthropic by default. */
  provider?: string
  /** For OpenAI's `created`: Anthropic's responses have no time. */
  createdSeconds: number
  /** JSON was asked for by instruction: a code fence around it is removed. */
  isJsonObject: boolean
  /** A call is returned as `function_call`. */
  usesLegacyFunctions: boolean
  /** Stop sequences that Anthropic does not accept; the response is cut at them here. */
  localStopSequences: readonly string[]
  /** Tools that were sent under other names, or for another input. */
  clientTools?: ClientTools
}

export function providerNameOf({ provider = 'anthropic' }: AnthropicResponseContext): string {
  return provider
}

export function createAnthropicResponseContext(body: JsonObject, nowMs: number): AnthropicResponseContext {
  return {
    createdSeconds: Math.floor(nowMs / 1000),
    isJsonObject: isJsonObjectRequested(body),
    usesLegacyFunctions: usesLegacyFunctions(body),
    localStopSequences: translateStopSequences(body).local,
  }
}
