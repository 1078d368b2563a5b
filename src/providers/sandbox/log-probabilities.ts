/** Invents log probabilities in OpenAI's two formats: plausible, deterministic for a text, and meaningless. */
import { invalidRequest } from '../../errors.ts'
import type { TokenPiece } from '../../tokens/split-tokens.ts'

interface TokenEntry {
  token: string
  logprob: number
  bytes: number[]
}

/** A response with more entries (tokens times alternatives times choices) is refused. */
const MOST_ENTRIES = 100_000

const encoder = new TextEncoder()

export function checkEntryCount(pieces: number, alternatives: number, choices: number, param: string): void {
  if (pieces * (1 + alternatives) * choices <= MOST_ENTRIES) return
  throw invalidRequest(`The answer has too many tokens for '${param}' in the sandbox; ask for fewer choices.`, param)
}

/** A chat choice's `logprobs`. */
export function describeChatTokens(pieces: TokenPiece[], alternatives: number): Record<string, unknown> {
  const content = pieces.map((piece, index) => {
    const logprob = logprobOf(index)
    return {
      ...describeToken(piece.text, logprob),
      top_logprobs: listAlternatives(piece.text, alternatives).map((text, rank) =>
        describeToken(text, rank === 0 ? logprob : logprobOf(index, rank)),
      ),
    }
  })
  return { content, refusal: null }
}

/** A text completion choice's `logprobs`; the first `echoed` pieces are the prompt's, and the very first has none. */
export function describeCompletionTokens(
  pieces: TokenPiece[],
  alternatives: number,
  echoed: number,
): Record<string, unknown> {
  const offsets: number[] = []
  let offset = 0
  for (const piece of pieces) {
    offsets.push(offset)
    offset += piece.text.length
  }
  const isFirstEchoed = (index: number) => index === 0 && echoed > 0
  return {
    tokens: pieces.map(piece => piece.text),
    token_logprobs: pieces.map((_, index) => (isFirstEchoed(index) ? null : logprobOf(index))),
    top_logprobs:
      alternatives === 0 ? null : pieces.map((piece, index) => (isFirstEchoed(index) ? null : rank(piece, index))),
    text_offset: offsets,
  }

  function rank(piece: TokenPiece, index: number): Record<string, number> {
    const listed = listAlternatives(piece.text, alternatives)
    return Object.fromEntries(listed.map((text, place) => [text, logprobOf(index, place)]))
  }
}

function describeToken(token: string, logprob: number): TokenEntry {
  return { token, logprob, bytes: [...encoder.encode(token)] }
}

/** The token itself and then others, as many as asked for. */
function listAlternatives(token: string, count: number): string[] {
  return Array.from({ length: count }, (_, rank) => (rank === 0 ? token : `${token}~${rank}`))
}

/** A lower rank is more probable. */
function logprobOf(index: number, rank = 0): number {
  return -((index % 7) + 1) / 100 - rank * 2.5
}
