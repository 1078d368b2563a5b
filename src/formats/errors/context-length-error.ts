/** Recognizes in any provider's message that a prompt exceeds the model's context length, reads its token counts, and writes Anthropic's message. */

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

interface TokenCounts {
  prompt: number | null
  completion: number | null
  limit: number | null
}

type Label = 'limit' | 'prompt' | 'completion' | 'total'

const LIMIT =
  /\b(?:max|maximum|limit|limited|allowed|supports?|up to|at most|no more than|less than|available|capacity|window|context (?:length|size|limit)|(?:can|must) ?not exceed|n[ _]ctx)\b|<=|≤/i
const PROMPT = /\b(?:prompts?|inputs?|messages?|conversation|history)\b/gi
const COMPLETION = /\b(?:completions?|outputs?|generat\w+|response|new[ _]tokens|max_\w*tokens)\b/gi
const TOTAL = /\b(?:requested|request|total|received|given|contains?|got|has|passed|current length)\b/gi

/** Matches `150000` and `150,000`, but no part of a name or a decimal. */
const NUMBER = /(?<![\w.#-])(?:\d{1,3}(?:,\d{3})+|\d+)(?![\d.]*\d)(?![a-z]|-(?!token))/gi
/** Matches a label directly after a number, such as `tokens of text input`, `in the messages`, `maximum context length`. */
const LABEL_AFTER =
  /^[ `'"-]{0,3}(?:tokens?\b)? ?(?:(?:from|for|in|of) (?:(?:the|your) )?)?[`'"]{0,2}(?:(?:text|tool|image|file|audio|prompt|input|output) )?(?:tokens? )?(?:(inputs?|prompts?|messages?|functions?|tools?|images?|files?|audio|system)|(completions?|outputs?|max_\w*tokens|generat\w+|response|new tokens)|(maximum|max|limit|context|window))\b/i
/** Matches the beginning of the clause before a number. */
const CLAUSE = /(?:[.;]\s|[,>+]|\b(?:and|but|however|while|whereas)\b)/gi

/** Returns the counts. Parts of a prompt in one list, such as `8000 in the messages, 200 in the functions`, are added; else the first count wins. */
function readTokenCounts(message: string): TokenCounts {
  const text = message.replace(/\s+/g, ' ')
  const sum = /\b(\d[\d,]{0,15}) \+ (\d[\d,]{0,15}) > (\d[\d,]{0,15})/.exec(text)
  if (sum) return { prompt: toNumber(sum[1]), completion: toNumber(sum[2]), limit: toNumber(sum[3]) }
  const counts: Record<Label, number | null> = { limit: null, prompt: null, completion: null, total: null }
  let mayAdd = false
  let end = 0
  for (const { 0: digits, index } of text.matchAll(NUMBER)) {
    const before = text.slice(end, index)
    const labelAfter = readLabelAfter(text.slice(index + digits.length))
    const label = labelAfter ?? readLabelBefore(before)
    end = index + digits.length
    if (/[.;)]\s/.test(before)) mayAdd = false
    if (label === null) continue
    if (counts[label] === null) counts[label] = toNumber(digits)
    else if (label === 'prompt' && labelAfter !== null && mayAdd) counts[label] += toNumber(digits)
    if (label === 'prompt') mayAdd = labelAfter !== null
  }
  return completeCounts(counts)
}

/** Computes the third of prompt, completion and total from the other two. A total alone counts as the prompt. */
function completeCounts({ limit, prompt, completion, total }: Record<Label, number | null>): TokenCounts {
  if (total === null) return { prompt, completion, limit }
  const rest = (part: number | null) => (part !== null && total > part ? total - part : null)
  return {
    prompt: prompt ?? (completion === null ? total : rest(completion)),
    completion: completion ?? rest(prompt),
    limit,
  }
}

function readLabelAfter(text: string): Label | null {
  const found = LABEL_AFTER.exec(text)
  if (!found) return null
  if (found[1]) return 'prompt'
  return found[2] ? 'completion' : 'limit'
}

function readLabelBefore(text: string): Label | null {
  const from = [...text.matchAll(CLAUSE)].reduce((_, { 0: mark, index }) => index + mark.length, 0)
  const clause = text.slice(from)
  // `exceeded by 12 tokens` is neither the limit nor the prompt.
  if (/\bby\W*(?:about\W*)?$/.test(clause)) return null
  if (LIMIT.test(clause)) return 'limit'
  const places: [Label, number][] = [
    ['prompt', lastIndex(clause, PROMPT)],
    ['completion', lastIndex(clause, COMPLETION)],
    ['total', lastIndex(clause, TOTAL)],
  ]
  const [label, at] = places.reduce((nearest, each) => (each[1] > nearest[1] ? each : nearest))
  return at < 0 ? null : label
}

function lastIndex(text: string, names: RegExp): number {
  return [...text.matchAll(names)].at(-1)?.index ?? -1
}

function toNumber(digits = ''): number {
  return Number(digits.replaceAll(',', ''))
}
