/** Reads the token counts in an error message: those of the prompt, the requested output, and the model's limit. */

export interface TokenCounts {
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
export function readTokenCounts(message: string): TokenCounts {
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
