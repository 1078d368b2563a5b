/** The properties of a request that the translation of its response needs. */
import type { JsonObject } from '../../../formats/json/canonical.ts'
import type { ClientTools } from '../request/adapt-tools.ts'
import { isJsonObjectRequested } from '../request/translate-format.ts'
import { translateStopSequences } from '../request/translate-sampling.ts'
import { usesLegacyFunctions } from '../request/translate-tools.ts'

export interface AnthropicResponseContext {
  /** The provider's name in errors; "anthropic" by default. */
  provider?: string
  /** The value of OpenAI's `created`, because Anthropic's responses have no time. */
  createdSeconds: number
  /** Whether the request asks for a JSON object. A code fence around the response is then removed. */
  isJsonObject: boolean
  /** Whether a call is returned as `function_call`. */
  usesLegacyFunctions: boolean
  /** Stop sequences that Anthropic does not accept. The proxy ends the response at them. */
  localStopSequences: readonly string[]
  /** Tools that were sent with another name or a wrapped input. */
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
