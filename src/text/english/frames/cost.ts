/** Normalizes questions about a price. */
import { indexPhrases, lowerKey, matchPhrase, startsWith } from '../../phrases.ts'
import { replaceWords, type Token, wordSet } from '../../token.ts'

/** Whose cost is a term of its own: "the cost of capital". */
const terms = wordSet('capital equity debt sales sale revenue goods funds fund living ownership production')
const costFrame = indexPhrases(['what is the cost of', 'what is cost of'])

/** "How much does X cost", "what does X cost": "what is the cost of X". */
export function writeCost(tokens: readonly Token[]): readonly Token[] {
  const length = matchPhrase(costFrame, tokens, 0)
  const frame = ['what', 'is', 'cost', 'of']
  if (tokens.some(token => terms.has(lowerKey(token)))) return tokens
  if (length > 0) return [...replaceWords(tokens.slice(0, length), frame, 'question-frame'), ...tokens.slice(length)]
  const opening = ['how much does', 'how much do', 'what does', 'what do'].map(phrase => phrase.split(' '))
  const found = opening.find(words => startsWith(tokens, 0, words))
  const verb = tokens.findIndex(token => lowerKey(token) === 'cost')
  if (!found || verb <= found.length || lowerKey(tokens[found.length]) === 'it' || !endsPrice(tokens[verb + 1]))
    return tokens
  const priced = [...tokens.slice(found.length, verb), ...tokens.slice(verb + 1)]
  return [...replaceWords(tokens.slice(0, found.length), frame, 'question-frame'), ...priced]
}

/** "What does a war cost a country" asks for more than a price. */
function endsPrice(next: Token | undefined): boolean {
  return next === undefined || next.kind === 'mark' || /^(?:in|at|for|on|per|from|to)$/.test(lowerKey(next))
}
