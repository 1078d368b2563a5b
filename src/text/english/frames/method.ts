/** Questions for a method: "how do I", "how to", "what is the way to". */
import { indexPhrases, lowerKey, matchPhrase } from '../../phrases.ts'
import { phraseList, replaceWords, type Token, wordSet } from '../../token.ts'
import { craftVerbs, doingVerbs, genericVerbs } from './frame-words.ts'

/** Ways to ask for a method; a verb of doing must follow. */
const methodFrames = indexPhrases(
  phraseList(`
  how do i
  how can i
    how do we
  how can we
  how does one
  how can one
  how can you
  how do you
  what is the way to
  what is the best way to
  what is best way to
  what is a way to
  what are ways to
  what are the ways to
  what are some ways to
  what are the best ways to
  what are some of the best ways to
  which is the best way to
`),
)
const firstPerson = wordSet('i me my mine myself we us our ours ourselves')
const anyPerson: ReadonlySet<string> = new Set([
  ...firstPerson,
  'you',
  'your',
  'yours',
  'yourself',
  'one',
  'their',
  'they',
])

/** "How do I reset …" becomes "how to reset …". */
export function writeMethod(tokens: readonly Token[]): readonly Token[] {
  const length = matchPhrase(methodFrames, tokens, 0)
  const verb = lowerKey(tokens[length])
  if (length === 0 || !doingVerbs.has(verb)) return tokens
  const subject = lowerKey(tokens[2])
  const rest = tokens.slice(length).map(lowerKey)
  if (isState(rest)) return tokens
  if (subject === 'you' && (!genericVerbs.has(verb) || rest.some(word => anyPerson.has(word)))) return tokens
  if (subject === 'we' && !craftVerbs.has(verb)) return tokens
  if (/^(?:we|one)$/.test(subject) && rest.some(word => anyPerson.has(word))) return tokens
  return [...replaceWords(tokens.slice(0, length), ['how', 'to'], 'question-frame'), ...tokens.slice(length)]
}

/** "How do I compare to others", "how do I perform under pressure", "how do I get so tired": how the asker is, or comes to be. */
function isState([verb = '', next = '', ...more]: readonly string[]): boolean {
  if (next === 'so' || next === 'as' || more.includes('so')) return true
  if (verb === 'compare' || verb === 'perform') return /^(?:to|with|against|under|at|in|on|)$/.test(next)
  return verb === 'measure' && next === 'up'
}
