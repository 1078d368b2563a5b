/** Truncates a response's text at a stop sequence, or after a number of tokens. */
import { countTextTokens } from '../../formats/tokens/count-tokens.ts'

export interface TruncatedText {
  text: string
  tokens: number
  finishReason: 'stop' | 'length'
}

export interface TextLimits {
  stopSequences: string[]
  /** The token limit; undefined for no limit. */
  maxTokens: number | undefined
  model: string
}

export function truncateText(whole: string, { stopSequences, maxTokens = Infinity, model }: TextLimits): TruncatedText {
  const ends = stopSequences.map(stop => whole.indexOf(stop)).filter(end => end >= 0)
  const text = whole.slice(0, Math.min(whole.length, ...ends))
  const tokens = countTextTokens(text, model)
  if (tokens <= maxTokens) return { text, tokens, finishReason: 'stop' }
  const beginning = (chars: number) =>
    text
      .slice(0, chars)
      .toWellFormed()
      .replace(/\ufffd$/, '')
  let [fitting, exceeding] = [0, text.length]
  while (exceeding - fitting > 1) {
    const middle = Math.floor((fitting + exceeding) / 2)
    if (countTextTokens(beginning(middle), model) <= maxTokens) fitting = middle
    else exceeding = middle
  }
  const cut = beginning(fitting)
  return { text: cut, tokens: countTextTokens(cut, model), finishReason: 'length' }
}
