/** Computes the cost of a session's reported and estimated usage, and the upper bounds of its next response and transcription. */
import type { CostBound } from '../../../admission/budgets.ts'
import { type Catalogue, computeCostUsd } from '../../../catalogue/catalogue.ts'
import { readCostFactors } from '../../../formats/cost-factors.ts'
import { isJsonObject } from '../../../formats/json/canonical.ts'
import { NO_USAGE } from '../../../formats/token-usage.ts'
import type { Provider } from '../../../providers/upstream.ts'
import {
  type CallUsage,
  type EstimateReason,
  MAX_RECORDED_TOKENS,
  MAX_RECORDED_USD,
} from '../../spending/call-usage.ts'
import { maxCost } from '../../spending/max-cost.ts'
import {
  applyCost,
  calculateUsageCost,
  hasUnitPrices,
  type PassThroughUsage,
  readPassThroughUsage,
  validateReportedUsage,
} from '../../spending/pass-through-usage.ts'

/** Base64 has four characters for three bytes. A second of the shortest format, G.711, has 8,000 bytes. */
export const BASE64_G711_CHARACTERS_PER_SECOND = (8_000 * 4) / 3
/** OpenAI counts one token for 100 ms of audio input, and for 50 ms of audio output. */
const INPUT_TOKENS_PER_SECOND = 10
const OUTPUT_TOKENS_PER_SECOND = 20
/** Transcription is reserved in blocks of this length. */
export const AUDIO_BLOCK_SECONDS = 600

/** Returns the tokens of the client's characters, as if they were audio. */
export function estimateAudioInputTokens(characters: number): number {
  return (characters / BASE64_G711_CHARACTERS_PER_SECOND) * INPUT_TOKENS_PER_SECOND
}

/** The traffic of one response, from which its usage is read or estimated. */
export interface ResponseTraffic {
  /** The usage that the last event with usage reported. */
  usage: unknown
  promptTokens: number
  receivedCharacters: number
}

export class SessionPrices {
  readonly #model: string
  readonly #provider: Provider
  readonly #catalogue: Catalogue

  constructor(model: string, provider: Provider, catalogue: Catalogue) {
    this.#model = model
    this.#provider = provider
    this.#catalogue = catalogue
  }

  /** Returns the bound of a response: it may use the model's whole context. Null if the provider is free. */
  maxResponseCost(): CostBound | null {
    if (this.#provider.pricedAs === null) return null
    const model = this.#find(this.#model)
    if (!model) return { usd: null, tokens: null, unknown: this.#model }
    const { contextTokens: read, maxOutputTokens: written, unitPrices } = model
    if (read === null || written === null) return { usd: null, tokens: null }
    const { audio_input, audio_output, image_input = 0 } = unitPrices
    if (audio_input === undefined || audio_output === undefined)
      return { usd: null, tokens: read + written, unknown: `audio with ${this.#model}` }
    const timesMillion =
      read * Math.max(model.inputUsdPerMillion, audio_input, image_input) +
      written * Math.max(model.outputUsdPerMillion, audio_output)
    return { usd: Math.ceil(timesMillion * 1_000) / 1_000_000_000, tokens: read + written }
  }

  /** Returns the bound of transcribing one block of audio. Null if the provider is free. */
  maxTranscriptionCost(model: string): CostBound | null {
    const endpoint = 'audio/transcriptions'
    const bounds = readCostFactors(endpoint, {}, { isLenient: true })
    const size = { endpoint, model, bytes: 0, seconds: AUDIO_BLOCK_SECONDS, bounds }
    return maxCost(size, this.#provider, this.#catalogue)
  }

  /** Returns the reported usage with its cost. Null if nothing was reported. */
  readUsage(model: string, reported: unknown): CallUsage | null {
    const routed = { provider: this.#provider, query: { model } }
    const usage = validateReportedUsage(routed, readPassThroughUsage(reported), { catalogue: this.#catalogue })
    return usage === NO_USAGE ? null : applyCost(usage, this.#priceOf(model, usage))
  }

  /** Returns the usage of a response with this status. `isFailed` means that it failed and reported no usage. */
  usageOfResponse(
    traffic: ResponseTraffic,
    status: unknown,
  ): { usage: CallUsage; isReported: boolean; isFailed: boolean } {
    const reported = this.readUsage(this.#model, traffic.usage)
    const isFailed = reported === null && status === 'failed'
    // A response that was cancelled before it read its input reports a usage of zero.
    const isUnused = isFailed || (status === 'cancelled' && isJsonObject(traffic.usage))
    const usage = reported ?? (isUnused ? NO_USAGE : this.estimate(traffic))
    return { usage, isReported: reported !== null, isFailed }
  }

  /** Estimates the usage of a response without a report from its traffic, as if all of it were audio. */
  estimate({ promptTokens, receivedCharacters }: ResponseTraffic, reason: EstimateReason = 'not_reported'): CallUsage {
    const model = this.#find(this.#model)
    const outputTokens = Math.ceil((receivedCharacters / BASE64_G711_CHARACTERS_PER_SECOND) * OUTPUT_TOKENS_PER_SECOND)
    const read = Math.ceil(Math.min(promptTokens, model?.contextTokens ?? promptTokens))
    const written = Math.min(outputTokens, model?.maxOutputTokens ?? outputTokens)
    const counts = { promptTokens: read, audioPromptTokens: read, completionTokens: written }
    const usage = { ...NO_USAGE, ...counts, audioCompletionTokens: written }
    const charged = applyCost(usage, this.#priceOf(this.#model, usage))
    const bound = this.maxResponseCost()
    if (bound === null) return charged
    const doubtfulUsd = Math.max(0, (bound.usd ?? MAX_RECORDED_USD) - (charged.reportedCostUsd ?? 0))
    const doubtfulTokens = Math.max(0, (bound.tokens ?? MAX_RECORDED_TOKENS) - read - written)
    return { ...charged, estimate: { reason, doubtfulUsd, doubtfulTokens } }
  }

  #find(model: string) {
    return this.#catalogue.find(this.#provider.pricedAs, model)
  }

  /** Returns null if a price is unknown. */
  #priceOf(name: string, usage: PassThroughUsage): number | null {
    if (this.#provider.pricedAs === null) return 0
    const model = this.#find(name)
    if (model?.kind === 'transcription') return calculateUsageCost(model, usage)
    return model && hasUnitPrices(model, usage) ? computeCostUsd(model, usage) : null
  }
}
