/** Normalizes questions about a price. */
import { indexPhrases, lowerKey, matchPhrase, startsWith } from '../../phrases.ts'
import { replaceWords, type Token } from '../../token.ts'

const costFrame = indexPhrases(['what is the cost of', 'what is cost of'])

/** "How much does X cost", "what does X cost": "what is the cost of X". */
export function writeCost(tokens: readonly Token[]): readonly Token[] {
  const length = matchPhrase(costFrame, tokens, 0)
  const frame = ['what', 'is', 'cost', 'of']
  if (length > 0) return [...replaceWords(tokens.slice(0, length), frame, 'question-frame'), ...tokens.slice(length)]
  const opening = ['how much does', 'how much do', 'what does', 'what do'].map(phrase => phrase.split(' '))
  const found = opening.find(words => startsWith(tokens, 0, words))
  const verb = tokens.findIndex(token => lowerKey(token) === 'cost')
  if (!found || verb <= found.length || lowerKey(tokens[found.length]) === 'it') return tokens
  const priced = [...tokens.slice(found.length, verb), ...tokens.slice(verb + 1)]
  return [...replaceWords(tokens.slice(0, found.length), frame, 'question-frame'), ...priced]
}
