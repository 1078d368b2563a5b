/** Questions for what a word means. */
import { indexPhrases, lowerKey, matchPhrase, startsWith } from '../../phrases.ts'
import { phraseList, replaceWords, type Token } from '../../token.ts'
import { unmeant } from './frame-words.ts'

const meaningFrames = indexPhrases(
  phraseList(`
  what is the meaning of
  what is meaning of
  what is meant by
  meaning of
  the meaning of
`),
)

/** "What is the meaning of X" becomes "what does X mean"; X stays as it was written. Null where this is no such question. */
export function writeMeaning(tokens: readonly Token[]): readonly Token[] | null {
  const length = matchPhrase(meaningFrames, tokens, 0)
  const isPlain = length === 0 && startsWith(tokens, 0, ['what', 'does']) && lowerKey(tokens.at(-1)) === 'mean'
  const subject = isPlain ? tokens.slice(2, -1) : length > 0 ? tokens.slice(length) : []
  if (subject.length === 0 || subject.length > 3 || subject.some(isUnmeant)) return null
  if (isPlain) return tokens
  const frame = replaceWords(tokens.slice(0, length), ['what', 'does'], 'question-frame')
  const last = subject.slice(-1)
  return [...frame, ...subject, ...replaceWords(last, ['mean'], 'question-frame')]
}

function isUnmeant(token: Token): boolean {
  return token.kind === 'mark' || unmeant.has(lowerKey(token))
}
