/** Fields of study and work, and other phrases with the same meaning with or without capitals. */
import { indexPhrases, lowerKey, matchPhrase } from '../phrases.ts'
import { phraseList, rewrite, type Token } from '../token.ts'

const fields = indexPhrases(
  phraseList(`
  computer science
  machine learning
  deep learning
  artificial intelligence
  data science
  data scientist
  data analysis
  data analytics
  data interpretation
  data structures
  big data
  cloud computing
  operating system
  operating systems
  digital marketing
  social media
  software engineer
  software engineering
  software developer
  web design
  web development
  web developer
  graphic design
  civil engineering
  mechanical engineering
  electrical engineering
  chemical engineering
  computer engineering
  information technology
  business administration
  project management
  human resources
  human rights
  organic chemistry
  quantum mechanics
  quantum physics
  linear algebra
  discrete mathematics
  supply chain management
  financial accounting
  investment banking
  stock market
  group discussion
  new year
  new year's
  new year resolution
  new year resolutions
  new year's resolution
  new year's resolutions
`),
)
const written = /^(?:\p{Lu}?[\p{Ll}']+)$/u

/**
 * Writes each field in lower case, if each of its words has at most an initial capital. "Who wrote Deep Learning" may ask about a book.
 */
export function writeFields(tokens: readonly Token[]): readonly Token[] {
  if (/^who/.test(lowerKey(tokens[0]))) return tokens
  const smaller = new Set<Token>()
  for (let at = 0; at < tokens.length; at += 1) {
    const phrase = tokens.slice(at, at + matchPhrase(fields, tokens, at))
    if (phrase.every(({ key }) => written.test(key))) for (const token of phrase) smaller.add(token)
  }
  if (smaller.size === 0) return tokens
  return tokens.map(token => (smaller.has(token) ? rewrite(token, token.key.toLowerCase(), 'known-name') : token))
}
