/** What a session's usage costs, as reported and as estimated, and the most that its next response or transcription may cost. */
import type { CostBound } from '../../../admission/budgets.ts'
import { type Catalogue, computeCostUsd } from '../../../catalogue/catalogue.ts'
import { readCostFactors } from '../../../formats/cost-factors/read-cost-factors.ts'
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
export const AUDIO_CHARACTERS_PER_SECOND = (8_000 * 4) / 3
/** As OpenAI counts audio: a token for 100 ms that are heard, and for 50 ms that are spoken. */
const HEARD_TOKENS_A_SECOND = 10
const SPOKEN_TOKENS_A_SECOND = 20
/** The transcription of so much audio is reserved at a time. */
export const AUDIO_BLOCK_SECONDS = 600

/** Tokens that characters of the client's come to, if they are audio. */
export function estimateAudioInputTokens(characters: number): number {
  return (characters / AUDIO_CHARACTERS_PER_SECOND) * HEARD_TOKENS_A_SECOND
}

/** What a response has read and received, as far as the session knows. */
export interface ResponseTraffic {
  /** As the last event that named it reported. */
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

  /** Whoever asks for it, a response may read all that its model takes. Null where the provider is free. */
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

  /** Of a block of audio. Null where the provider is free. */
  maxTranscriptionCost(model: string): CostBound | null {
    const endpoint = 'audio/transcriptions'
    const bounds = readCostFactors(endpoint, {}, { isLenient: true })
    const size = { endpoint, model, bytes: 0, seconds: AUDIO_BLOCK_SECONDS, bounds }
    return maxCost(size, this.#provider, this.#catalogue)
  }

  /** As the provider reports it. Null where nothing was reported. */
  readUsage(model: string, reported: unknown): CallUsage | null {
    const routed = { provider: this.#provider, query: { model } }
    const usage = validateReportedUsage(routed, readPassThroughUsage(reported), { catalogue: this.#catalogue })
    return usage === NO_USAGE ? null : applyCost(usage, this.#priceOf(model, usage))
  }

  /** Of a response that ended with this status. `isFailed`: it failed, and reported no usage. */
  usageOfResponse(
    crossed: ResponseTraffic,
    status: unknown,
  ): { usage: CallUsage; isReported: boolean; isFailed: boolean } {
    const reported = this.readUsage(this.#model, crossed.usage)
    const isFailed = reported === null && status === 'failed'
    // Nothing is what a response reports that was cancelled before it began to read.
    const isUnused = isFailed || (status === 'cancelled' && isJsonObject(crossed.usage))
    const usage = reported ?? (isUnused ? NO_USAGE : this.estimate(crossed))
    return { usage, isReported: reported !== null, isFailed }
  }

  /** Of a response whose end nobody saw: what was sent and received, as if all of it were audio. */
  estimate({ promptTokens, receivedCharacters }: ResponseTraffic, reason: EstimateReason = 'not_reported'): CallUsage {
    const model = this.#find(this.#model)
    const spoken = Math.ceil((receivedCharacters / AUDIO_CHARACTERS_PER_SECOND) * SPOKEN_TOKENS_A_SECOND)
    const read = Math.ceil(Math.min(promptTokens, model?.contextTokens ?? promptTokens))
    const written = Math.min(spoken, model?.maxOutputTokens ?? spoken)
    const counts = { promptTokens: read, audioPromptTokens: read, completionTokens: written }
    const usage = { ...NO_USAGE, ...counts, audioCompletionTokens: written }
    const charged = applyCost(usage, this.#priceOf(this.#model, usage))
    const most = this.maxResponseCost()
    if (most === null) return charged
    const doubtfulUsd = Math.max(0, (most.usd ?? MAX_RECORDED_USD) - (charged.reportedCostUsd ?? 0))
    const doubtfulTokens = Math.max(0, (most.tokens ?? MAX_RECORDED_TOKENS) - read - written)
    return { ...charged, estimate: { reason, doubtfulUsd, doubtfulTokens } }
  }

  #find(model: string) {
    const { pricedAs } = this.#provider
    return pricedAs === null ? undefined : this.#catalogue.find(pricedAs, model)
  }

  /** Null where a price is not known. */
  #priceOf(name: string, usage: PassThroughUsage): number | null {
    if (this.#provider.pricedAs === null) return 0
    const model = this.#find(name)
    if (model?.kind === 'transcription') return calculateUsageCost(model, usage)
    return model && hasUnitPrices(model, usage) ? computeCostUsd(model, usage) : null
  }
}
