/** Reads a question once, and reduces it to what it asks. */
import { LRUCache } from 'lru-cache'
import { canonicalSynonymOf } from '../text/canonical-synonym.ts'
import { canContainTitle } from '../text/form-sensitive.ts'
import { lemmasOf } from '../text/lexicon.ts'
import { type ContentWord, type NotPlainReason, type ParsedQuestion, parseQuestion } from './question.ts'

/**
 * Part of the names of the spaces in which gists are embedded. Vectors are only compared within a space, so another number is due when
 * `embeddingTextOf` or `questionAnchorOf` returns another text for any that was normalized before. A text that is normalized otherwise needs none: it is another text.
 */
export const EMBEDDING_TEXT_VERSION = 'gist-14'

/** A request's text is read for its vetoes and its gist, a stored one for each question that is near to it. */
const questionsRead = new LRUCache<string, ParsedQuestion | NotPlainReason>({ max: 512 })

/** What was normalized as an English question, taken apart; or why it is no plain one. `owner`: as of a `NormalizedPrompt`. */
export function parseQuestionCached(normalized: string, owner: string): ParsedQuestion | NotPlainReason {
  const name = `${owner}\n${normalized}`
  const known = questionsRead.get(name)
  if (known !== undefined) return known
  const question = parseQuestion(normalized)
  questionsRead.set(name, question)
  return question
}

/** A plain question reduced to what it asks: its form, its small words and its words' base forms. Any other text unchanged. */
export function embeddingTextOf(normalized: string, owner = ''): string {
  const question = parseQuestionCached(normalized, owner)
  if (typeof question === 'string') return normalized
  const { frame, words, tail } = question
  // "Scary Movie" is no "scary film".
  const write = canContainTitle(words.map(({ text }) => text)) ? ({ text }: ContentWord) => text : plainFormOf
  const gist = words.map(word => (word.before === '' ? write(word) : `${word.before} ${write(word)}`))
  return [frame, ...gist, tail].filter(Boolean).join(' ')
}

/** Small words that a phrase loses when it is turned round: "price of gold", "gold price". */
const turning = /^(?:of|for|by)?$/

/**
 * What two questions have in common if they ask the same (`findVeto`), whatever stands in place of what: how they ask, their small words, how
 * many others there are, and those of them that no other may stand for: numbers, names, all that the lexicon knows no sense of. No plain question
 * shares the anchor of a text that is none.
 */
export function questionAnchorOf(normalized: string, owner = ''): string {
  const question = parseQuestionCached(normalized, owner)
  if (typeof question === 'string') return question
  const { frame, words, tail } = question
  const small = words.map(({ before }) => before).filter(before => !turning.test(before))
  const fixed = words.map(({ text }) => text.toLowerCase()).filter(text => lemmasOf(text).length === 0)
  return JSON.stringify([frame, tail, words.length, small.toSorted(), fixed.toSorted()])
}

/** "Kids" as "child", "biggest" as "most large". */
function plainFormOf({ text, lemmas }: ContentWord): string {
  const isInflected = lemmas.every(({ form }) => form !== 'plain')
  const most = text === 'best' ? undefined : lemmas.find(({ form }) => form === 'est')
  const lemma = isInflected ? (lemmas.find(({ form }) => form === 's') ?? lemmas[0]) : undefined
  return most
    ? `most ${canonicalSynonymOf(most.word)}`
    : `${lemma?.form === 'er' ? 'more ' : ''}${canonicalSynonymOf(lemma?.word ?? text)}`
}
