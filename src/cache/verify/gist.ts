/** Reads a question once, and reduces it to what it asks. */
import { LRUCache } from 'lru-cache'
import { plainestOf } from '../text/everyday-synonyms.ts'
import { lemmasOf } from '../text/lexicon.ts'
import { type ContentWord, type Plainness, type Question, takeQuestionApart } from './question.ts'

/**
 * Part of the names of the spaces in which gists are embedded. Vectors are only compared within a space, so another number is due when
 * `gistOf` or `anchorOf` returns another text for any that was normalized before. A text that is normalized otherwise needs none: it is another text.
 */
export const GIST_FORM = 'gist-10'

/** A request's text is read for its vetoes and its gist, a stored one for each question that is near to it. */
const questionsRead = new LRUCache<string, Question | Plainness>({ max: 512 })

/** What was normalized as an English question, taken apart; or why it is no plain one. `owner`: as of a `PromptReading`. */
export function readQuestion(normalized: string, owner: string): Question | Plainness {
  const name = `${owner}\n${normalized}`
  const known = questionsRead.get(name)
  if (known !== undefined) return known
  const question = takeQuestionApart(normalized)
  questionsRead.set(name, question)
  return question
}

/** A plain question reduced to what it asks: its form, its small words and its words' base forms. Any other text unchanged. */
export function gistOf(normalized: string, owner = ''): string {
  const question = readQuestion(normalized, owner)
  if (typeof question === 'string') return normalized
  const { frame, words, tail } = question
  const gist = words.map(word => (word.before === '' ? plainFormOf(word) : `${word.before} ${plainFormOf(word)}`))
  return [frame, ...gist, tail].filter(Boolean).join(' ')
}

/** Small words that a phrase loses when it is turned round: "price of gold", "gold price". */
const turning = /^(?:of|for|by)?$/

/**
 * What two questions have in common if they ask the same (`findVeto`), whatever stands in place of what: how they ask, their small words, how
 * many others there are, and those of them that no other may stand for: numbers, names, all that the lexicon knows no sense of. No plain question
 * shares the anchor of a text that is none.
 */
export function anchorOf(normalized: string, owner = ''): string {
  const question = readQuestion(normalized, owner)
  if (typeof question === 'string') return question
  const { frame, words, tail } = question
  const small = words.map(({ before }) => before).filter(before => !turning.test(before))
  const fixed = words.map(({ text }) => text.toLowerCase()).filter(text => lemmasOf(text).length === 0)
  return JSON.stringify([frame, tail, words.length, small.toSorted(), fixed.toSorted()])
}

function plainFormOf({ text, lemmas }: ContentWord): string {
  const isPlural = lemmas.every(({ form }) => form !== 'plain')
  return plainestOf((isPlural ? lemmas.find(({ form }) => form === 's')?.word : undefined) ?? text)
}
