/** Computes what audio and images cost beyond the price of text. */
import type { TokenUsage } from '../formats/token-usage.ts'
import type { CatalogueModel, TokenPrices } from '../postgres/list-models.ts'

/** Returns by how much audio and images cost more than text, in millionths of a dollar. It may be negative. */
export function computeMediaSurcharge(
  unitPrices: CatalogueModel['unitPrices'],
  prices: TokenPrices,
  usage: TokenUsage,
): number {
  const { promptTokens, cachedPromptTokens, completionTokens } = usage
  const { audio_input, cached_audio_input, image_input, audio_output } = unitPrices
  // Cached tokens whose kind is not reported cost as much as cached text.
  const uncached = Math.max(0, promptTokens - cachedPromptTokens)
  const cachedAudio = Math.min(usage.cachedAudioPromptTokens ?? 0, usage.audioPromptTokens ?? 0, cachedPromptTokens)
  const audioInput = Math.min((usage.audioPromptTokens ?? 0) - cachedAudio, uncached)
  const images = Math.min(usage.imagePromptTokens ?? 0, uncached - audioInput)
  const audioOutput = Math.min(usage.audioCompletionTokens ?? 0, completionTokens)
  const surcharge = (price: number | undefined, textPrice: number) => (price === undefined ? 0 : price - textPrice)
  return (
    audioInput * surcharge(audio_input, prices.inputUsdPerMillion) +
    cachedAudio * surcharge(cached_audio_input, prices.cachedInputUsdPerMillion ?? prices.inputUsdPerMillion) +
    images * surcharge(image_input, prices.inputUsdPerMillion) +
    audioOutput * surcharge(audio_output, prices.outputUsdPerMillion)
  )
}
