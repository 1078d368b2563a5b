/** Tells questions about the moment ("today's rate") from questions whose answer keeps. */
import { splitVerbatim } from '../../text/normalize/split-verbatim.ts'
import {
  freshCharacters,
  freshPhrases,
  freshWords,
  timelessAfterCurrent,
  timelessBeforeCurrent,
  timelessNow,
} from './lexicon/freshness.ts'

const phrasesByFirstWord = Map.groupBy(freshPhrases, phrase => phrase.split(' ', 1)[0])
const freshCharacter = new RegExp(freshCharacters.join('|'), 'u')
const word = /[\p{L}\p{M}\p{N}']+/gu

/**
 * Whether the answer depends on when the question is asked. No answer to a *similar* question may serve then: not even a
 * paraphrase has the same answer an hour later. Words in quotes and code do not count, nor do names ("USA Today").
 */
export function needsFreshAnswer(text: string): boolean {
  const prose = splitVerbatim(text.normalize('NFC'))
    .filter(span => span.kind === 'plain')
    .map(span => span.text)
    .join(' ')
  const words = prose.match(word) ?? []
  const lower = words.map(each => each.toLowerCase())
  const phrase = ` ${lower.join(' ')} `
  return (
    lower.some(each => phrasesByFirstWord.get(each)?.some(fresh => phrase.includes(` ${fresh} `))) ||
    freshCharacter.test(prose) ||
    lower.some((each, at) => isFreshWord(each, at, lower) && !isPartOfName(words, at)) ||
    asksForNow(lower, words)
  )
}

function isFreshWord(each: string, at: number, lower: readonly string[]): boolean {
  if (each === 'current' || each === "current's") return isTimeCurrent(lower[at - 1], lower[at + 1])
  return freshWords.has(each) || (each.endsWith("'s") && freshWords.has(each.slice(0, -2)))
}

function isTimeCurrent(before: string | undefined, after: string | undefined): boolean {
  return after !== undefined && !timelessAfterCurrent.has(after) && !timelessBeforeCurrent.has(before ?? '')
}

function asksForNow(lower: readonly string[], words: readonly string[]): boolean {
  return lower.some((each, at) => each === 'now' && !isTimeless(lower, at) && !isPartOfName(words, at))
}

function isTimeless(lower: readonly string[], at: number): boolean {
  const around = ` ${lower.slice(Math.max(0, at - 2), at + 3).join(' ')} `
  return timelessNow.some(phrase => around.includes(` ${phrase} `))
}

/** A capitalised word after another, in a text that does not capitalise everything: "USA Today", "Apocalypse Now". */
function isPartOfName(words: readonly string[], at: number): boolean {
  const before = words[at - 1]
  if (at < 2 || before === undefined || !isCapitalised(words[at]) || !isCapitalised(before)) return false
  const capitalised = words.filter(isCapitalised).length
  return capitalised <= words.length / 2
}

function isCapitalised(each: string | undefined): boolean {
  const first = each?.[0] ?? ''
  return first !== first.toLowerCase()
}
