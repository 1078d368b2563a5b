/** Recognizes in any provider's message that a prompt exceeds the model's context length, and writes Anthropic's message for it. */
import { readTokenCounts, type TokenCounts } from './token-counts.ts'

/** OpenAI's code. */
export const CONTEXT_LENGTH_EXCEEDED = 'context_length_exceeded'

/** Anthropic's messages. Its clients act on them: they compact the conversation, or request less output. */
const ANTHROPIC_MESSAGE =
  /^prompt is too long(?:: \d+ tokens > \d+ maximum|\W*$)|^input length and `max_tokens` exceed context limit: \d+ \+ \d+ > \d+/
const CONTEXT =
  /\bcontext[ _]?(?:length|window|size|limit|budget|capacity)|\bn_ctx\b|\bmaximum context\b|\bcontext overflow/i
const INPUT =
  /\b(?:prompts?|conversation|chat history|(?:prompt|input)_tokens|tokens in (?:the |your )?request|(?:inputs?|messages?)(?![.[_]))\b/i
const TOO_LONG =
  /\btoo (?:long|large|many|big)\b|exceed\w*|\boverflow\w*|\bover the\b|\bsurpass\w*|\bnot enough\b|\breduce the length\b|\brange of\b/i
const GREATER = /\b(?:longer|greater|larger|higher|more|less) than\b|\bat most\b|\bup to\b|[<>]=/i
const TOKENS = /(?:\b|prompt_|input_)tokens?\b/i
/** Other things that may be too long. A sentence with one of them, and without tokens, is not about the context length. */
const OTHER_UNITS =
  /\b(?:char(?:acter)?s?|strings?|bytes?|[kmg]i?b|images?|pictures?|audio|video|pdf|documents?|files?|arrays?|lists?|items?|elements?|names?|urls?|pixels|pages|schema|description)\b/i
const TIME = /\b(?:seconds?|minutes?|time ?(?:out|limit))\b/i
/** Matches sentences about a limit of the output only. */
const OUTPUT_LIMIT = /\bmax(?:imum)?[_ ]\w*_?tokens\b|\b(?:output|completion|generated) tokens?\b/i

export function isContextLengthExceeded(message: string, codes: readonly string[], counts: string): boolean {
  if (codes.some(code => isContextLengthSentence(code))) return true
  const text = `${message}; ${counts}`
  const { prompt, completion, limit } = readTokenCounts(text)
  const isOver = prompt !== null && limit !== null && prompt + (completion ?? 0) > limit
  if (CONTEXT.test(text)) return isOver || TOO_LONG.test(text) || GREATER.test(text)
  if (isOver && TOKENS.test(text) && (INPUT.test(text) || !OUTPUT_LIMIT.test(text))) return true
  if (/\brequest (?:body )?too large\b/i.test(text) && TOKENS.test(text)) return true
  return message.split(/[.;\n]\s+/).some(isContextLengthSentence)
}

function isContextLengthSentence(sentence: string): boolean {
  const isLong = TOO_LONG.test(sentence)
  if (CONTEXT.test(sentence)) return isLong || GREATER.test(sentence)
  const mentionsTokens = TOKENS.test(sentence)
  if (TIME.test(sentence) || (OTHER_UNITS.test(sentence) && !mentionsTokens)) return false
  if (INPUT.test(sentence))
    return isLong ? !/\btoo many\b/i.test(sentence) || mentionsTokens : mentionsTokens && GREATER.test(sentence)
  return (
    isLong &&
    mentionsTokens &&
    !OUTPUT_LIMIT.test(sentence) &&
    /\brequest\w*|\btoo many tokens\b|\binput\w*/i.test(sentence)
  )
}

export function isAnthropicContextLengthMessage(message: string): boolean {
  return ANTHROPIC_MESSAGE.test(message)
}

/** Returns Anthropic's message with the counts in the provider's message, followed by the provider's message. */
export function writeAnthropicContextMessage(message: string, counts = ''): string {
  if (isAnthropicContextLengthMessage(message)) return message
  return `${writeAnthropicPrefix(readTokenCounts(`${message}; ${counts}`))}. ${message}`
}

function writeAnthropicPrefix({ prompt, completion, limit }: TokenCounts): string {
  if (prompt === null || limit === null) return 'prompt is too long'
  if (prompt > limit) return `prompt is too long: ${prompt} tokens > ${limit} maximum`
  if (completion === null || prompt + completion <= limit) return 'prompt is too long'
  return `input length and \`max_tokens\` exceed context limit: ${prompt} + ${completion} > ${limit}`
}
