/** Derives a question's embedding text. Parsed questions are cached. */
import { LRUCache } from 'lru-cache'
import { canonicalSynonymOf } from '../text/canonical-synonym.ts'
import { canContainTitle } from '../text/form-sensitive.ts'
import { type ContentWord, type ParsedQuestion, parseQuestion, type UnsupportedQuestionReason } from './question.ts'

/**
 * The version of embedding texts, which is part of the embedding space's name. It must change when `embeddingTextOf` returns
 * another text for the same normalized text. A change of normalization does not need another version.
 */
export const EMBEDDING_TEXT_VERSION = 'gist-14'

/** Recently parsed questions. A request's text is parsed for its vetoes and its embedding text, a stored one for each similar question. */
const parsedQuestions = new LRUCache<string, ParsedQuestion | UnsupportedQuestionReason>({ max: 512 })

/** Parses a normalized English question, with a cache per owner of `NormalizedPrompt`. Returns the reason if it is not plain. */
export function parseQuestionCached(normalized: string, owner: string): ParsedQuestion | UnsupportedQuestionReason {
  const name = `${owner}\n${normalized}`
  const known = parsedQuestions.get(name)
  if (known !== undefined) return known
  const question = parseQuestion(normalized)
  parsedQuestions.set(name, question)
  return question
}

/** Returns the text to embed: for a plain question, its frame, small words and base forms; any other text unchanged. */
export function embeddingTextOf(normalized: string, owner = ''): string {
  const question = parseQuestionCached(normalized, owner)
  if (typeof question === 'string') return normalized
  const { frame, words, tail } = question
  // Words that may form a title stay unchanged: "Scary Movie" is not "scary film".
  const write = canContainTitle(words.map(({ text }) => text)) ? ({ text }: ContentWord) => text : plainFormOf
  const gist = words.map(word => (word.before === '' ? write(word) : `${word.before} ${write(word)}`))
  return [frame, ...gist, tail].filter(Boolean).join(' ')
}

/** Returns the word's base form and canonical synonym: "kids" as "child", "biggest" as "most large". */
function plainFormOf({ text, lemmas }: ContentWord): string {
  const isInflected = lemmas.every(({ form }) => form !== 'plain')
  const most = text === 'best' ? undefined : lemmas.find(({ form }) => form === 'est')
  const lemma = isInflected ? (lemmas.find(({ form }) => form === 's') ?? lemmas[0]) : undefined
  return most
    ? `most ${canonicalSynonymOf(most.word)}`
    : `${lemma?.form === 'er' ? 'more ' : ''}${canonicalSynonymOf(lemma?.word ?? text)}`
}
