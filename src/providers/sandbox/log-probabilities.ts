/** Log probabilities in OpenAI's two formats: of the text's own tokens alone, all equally sure, and meaningless. */
import type { TokenPiece } from '../../tokens/split-tokens.ts'

const LOGPROB = -0.01
/** How many times as long as its text a response with log probabilities may be. */
export const LOGPROBS_GROWTH = 64

const encoder = new TextEncoder()

/** A chat choice's `logprobs`. Of the alternatives asked for there is one: the token. */
export function describeChatTokens(pieces: TokenPiece[], alternatives: number): Record<string, unknown> {
  const content = pieces.map(({ text }) => {
    const entry = { token: text, logprob: LOGPROB, bytes: [...encoder.encode(text)] }
    return { ...entry, top_logprobs: alternatives > 0 ? [entry] : [] }
  })
  return { content, refusal: null }
}

/** A text completion choice's `logprobs`. The first token of an echoed prompt has none. */
export function describeCompletionTokens(
  pieces: TokenPiece[],
  alternatives: number,
  isEchoed: boolean,
): Record<string, unknown> {
  const offsets = [0]
  for (const { text } of pieces) offsets.push((offsets.at(-1) ?? 0) + text.length)
  const each = <T>(write: (text: string) => T) =>
    pieces.map(({ text }, index) => (isEchoed && index === 0 ? null : write(text)))
  return {
    tokens: pieces.map(({ text }) => text),
    token_logprobs: each(() => LOGPROB),
    top_logprobs: alternatives === 0 ? null : each(text => ({ [text]: LOGPROB })),
    text_offset: offsets.slice(0, -1),
  }
}
