/** Joins the lines and the keys of tokens. */
import * as patterns from './patterns.ts'
import type { Token } from './tokenize.ts'
import { sentenceOpeners } from './words.ts'

/** Joins lines: a greeting or thanks in a separate line, a sentence over several lines, and "quick question:". */
export function joinLines(tokens: readonly Token[]): readonly Token[] {
  const breaks = tokens.flatMap(({ opensLine }, at) => (opensLine ? [at] : []))
  const [first = 0, last = first] = [breaks[0], breaks.at(-1)]
  const isLoose = (at: number) =>
    continuesSentence(tokens, at) ||
    (at === first &&
      patterns.greetingPattern.test(`${joinKeys(tokens.slice(0, at))} x`) &&
      joinKeys(tokens.slice(0, at)).length < 24) ||
    (at === last && patterns.closingThanksPattern.test(` . ${joinKeys(tokens.slice(at))}`))
  const opened = patterns.greetingPattern.exec(`${joinKeys(tokens)} `)?.[0].split(' ') ?? []
  const rest = tokens.filter(({ key }, at) => key !== ':' || at !== opened.length - 2)
  return breaks.every(isLoose) ? rest.map(token => (token.opensLine ? { ...token, opensLine: false } : token)) : rest
}

/** Returns whether a sentence continues in the next line: "What is the capital", then "of Peru". */
function continuesSentence(tokens: readonly Token[], at: number): boolean {
  return (
    sentenceOpeners.has(tokens[0]?.key.toLowerCase() ?? '') &&
    /^[a-z]/.test(tokens[at]?.key ?? '') &&
    tokens.slice(0, at).every(({ kind }) => kind === 'word')
  )
}

/** Joins the keys of tokens by spaces. A question mark after a calculation is omitted. */
export function joinKeys(tokens: readonly Token[]): string {
  return tokens
    .map(({ key }) => key)
    .join(' ')
    .replace(/ [?=]$| = \?$/, '')
}
