/** Turns the ways to ask one question into one: "how do I" is "how to", at the start of a sentence. */
import { indexPhrases, matchPhrase } from './phrases.ts'
import { patternBlockers, questionPatterns } from './tables.ts'

const patterns = indexPhrases(questionPatterns.map(([from]) => from))
const replacements = new Map(questionPatterns.map(([from, to]) => [from, to.split(' ')]))

/** The words with the patterns that start before index `end` replaced. */
export function unifyQuestions(words: readonly string[], end: number): string[] {
  const unified: string[] = []
  for (let at = 0; at < words.length; ) {
    const length = at < end && opensSentence(words, at) ? patternAt(words, at) : 0
    if (length > 0) unified.push(...(replacements.get(words.slice(at, at + length).join(' ')) ?? []))
    else unified.push(words[at] ?? '')
    at += Math.max(1, length)
  }
  return unified
}

function opensSentence(words: readonly string[], at: number): boolean {
  return at === 0 || /[.?!]$/.test(words[at - 1]?.slice(-1) ?? '')
}

function patternAt(words: readonly string[], at: number): number {
  const length = matchPhrase(patterns, words, at)
  const next = words[at + length]
  return length > 0 && next !== undefined && /^\p{L}/u.test(next) && !patternBlockers.has(next) ? length : 0
}
