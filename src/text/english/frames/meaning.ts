/** Normalizes questions about the meaning of a word. */
import { indexPhrases, lowerKey, matchPhrase, startsWith } from '../../phrases.ts'
import { phraseList, replaceWords, type Token, wordSet } from '../../token.ts'
import { unmeant } from './frame-words.ts'

const meaningFrames = indexPhrases(
  phraseList(`
  what is the meaning of
  what is meaning of
  what is meant by
  what is mean by
  what do you mean by
  what do we mean by
  meaning of
  the meaning of
`),
)
const definitionFrames = indexPhrases(
  phraseList(`
  define
  definition of
  the definition of
  what is the definition of
  what is definition of
  give the definition of
  give a definition of
  give me the definition of
  give me a definition of
`),
)
const persons = wordSet(`
  mom mum mother dad father parents brother sister wife husband boyfriend girlfriend boss teacher god jesus someone somebody everyone everybody
  anyone anybody nobody people man woman girl guy author writer poet speaker doctor mark will trump
`)
const MAX_SUBJECT = 3
const quotedWords = /^"(\p{L}+(?: \p{L}+){0,2})"$/u

/**
 * "What is the meaning of X" becomes "what does X mean", "give the definition of X" becomes "define X". X stays unchanged, except for
 * quotation marks around it. Null when it is no such question.
 */
export function writeMeaning(tokens: readonly Token[]): readonly Token[] | null {
  const definition = matchPhrase(definitionFrames, tokens, 0)
  if (definition > 0) {
    const defined = unquote(tokens.slice(definition))
    if (!defined) return null
    return [...replaceWords(tokens.slice(0, definition), ['define'], 'question-frame'), ...defined]
  }
  const length = matchPhrase(meaningFrames, tokens, 0)
  const isPlain = length === 0 && startsWith(tokens, 0, ['what', 'does']) && lowerKey(tokens.at(-1)) === 'mean'
  const subject = unquote(isPlain ? tokens.slice(2, -1) : length > 0 ? tokens.slice(length) : [])
  if (!subject || subject.some(mayBeSomebody)) return null
  if (isPlain) return [...tokens.slice(0, 2), ...subject, ...tokens.slice(-1)]
  const frame = replaceWords(tokens.slice(0, length), ['what', 'does'], 'question-frame')
  const last = subject.slice(-1)
  return [...frame, ...subject, ...replaceWords(last, ['mean'], 'question-frame')]
}

/** The few words that are asked about; null when there are more, or they may have another meaning. */
function unquote(subject: readonly Token[]): readonly Token[] | null {
  const [only] = subject
  const quoted = only?.kind === 'quotation' && subject.length === 1 ? quotedWords.exec(only.key)?.[1] : undefined
  if (quoted !== undefined) {
    const words = quoted.split(' ')
    // "What does this mean" is not about a word.
    return words.some(word => unmeant.has(word.toLowerCase())) ? subject : replaceWords(subject, words, 'typography')
  }
  return subject.length === 0 || subject.length > MAX_SUBJECT || subject.some(isUnmeant) ? null : subject
}

function isUnmeant(token: Token): boolean {
  return token.kind === 'mark' || unmeant.has(lowerKey(token))
}

/** In "What does Marx mean", "what does mom mean", the question is what a person means. An acronym is no person. */
function mayBeSomebody(token: Token): boolean {
  return persons.has(lowerKey(token)) || /^\p{Lu}.*\p{Ll}/u.test(token.key)
}
