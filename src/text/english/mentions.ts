/** Recognizes English prose that is about itself, about works with titles, or about words. */
import { lowerKey } from '../phrases.ts'
import { type Token, wordSet } from '../token.ts'

/** About the prompt itself: a greeting or a punctuation mark then changes the answer. */
const aboutItself = [
  /\b(?:did|was|were|have|had) i\b/,
  /\b(?:do|am) i (?:sound|seem|come across|appear|being|rude|polite|shouting|yelling|nice|formal)\b/,
  /^(?:is|are|was|were) my\b|^how(?:'s| is| are| \w+ is) my\b/,
  /\b(?:my|this|your) (?:prompt|question|message|request|input|query|tone|mood|style|writing|greeting|typing|post|punctuation)\b/,
  /\b(?:is|was|are|does|did|do|should|must|could|would|can|will|has) this\b/,
  /\b(?:of|in|with) this$/,
  /\b(?:this|that|it) means?$/,
  /\b(?:ask|asks|asked|asking) for (?:the |some |a |an )?\w+$/,
  /\bi (?:just )?(?:said|wrote|typed|asked|used)\b/,
  /\b(?:periods?|dots?|marks?) at the end\b|\bends? (?:with|in|this)\b|\bquestion marks?\b|\bfull stops?\b/,
  // "How do I end an email? Cheers": courtesy may be the answer, or part of it.
  /\b(?:end|close|finish|sign|start|open|begin)\w* (?:an?|my|the|your) (?:\w+ )?(?:letter|email|e-mail|mail|message|note|conversation|speech)\b/,
]

export function speaksOfItself(tokens: readonly Token[]): boolean {
  const prose = tokens.map(lowerKey).filter(Boolean).join(' ')
  return aboutItself.some(pattern => pattern.test(prose))
}

/** Someone makes, sings or says something: what follows may be a title or a saying in lower case, and stays unchanged. */
const makers = wordSet(`
  sang sings sing sung sung singer lyrics recorded recordings released soundtrack wrote author directed directs
  director starred stars starring star acted actor actors actress cast plays played voiced narrated produced painted composed composer
  composer titled entitled episode episodes season trailer sequel slogan motto said told asked asks goes starts begins
`)

export function mayHoldTitle(words: ReadonlySet<string>): boolean {
  return !words.isDisjointFrom(makers)
}
