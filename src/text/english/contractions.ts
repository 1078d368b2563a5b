/**
 * English contractions with their full forms. Contractions with two meanings, and those that are other words without the apostrophe, are
 * left out.
 */
import { lowerKey } from '../phrases.ts'
import { replaceWords, type Token, wordSet } from '../token.ts'
import { auxiliaries } from './openers.ts'

const table: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "what's": 'what is',
    whats: 'what is',
    "who's": 'who is',
    "where's": 'where is',
    "when's": 'when is',
    "why's": 'why is',
    "how's": 'how is',
    "what're": 'what are',
    "who're": 'who are',
    "where're": 'where are',
    "what'll": 'what will',
    "who'll": 'who will',
    "it's": 'it is',
    "that's": 'that is',
    thats: 'that is',
    "there's": 'there is',
    "here's": 'here is',
    "he's": 'he is',
    "she's": 'she is',
    "i'm": 'i am',
    im: 'i am',
    "you're": 'you are',
    youre: 'you are',
    "we're": 'we are',
    "they're": 'they are',
    "i've": 'i have',
    ive: 'i have',
    "you've": 'you have',
    "we've": 'we have',
    "they've": 'they have',
    "i'll": 'i will',
    "you'll": 'you will',
    "he'll": 'he will',
    "she'll": 'she will',
    "it'll": 'it will',
    "we'll": 'we will',
    "they'll": 'they will',
    "can't": 'cannot',
    "won't": 'will not',
    "don't": 'do not',
    dont: 'do not',
    "doesn't": 'does not',
    doesnt: 'does not',
    "didn't": 'did not',
    didnt: 'did not',
    "isn't": 'is not',
    isnt: 'is not',
    "aren't": 'are not',
    arent: 'are not',
    "wasn't": 'was not',
    wasnt: 'was not',
    "weren't": 'were not',
    "haven't": 'have not',
    "hasn't": 'has not',
    "hadn't": 'had not',
    "couldn't": 'could not',
    "shouldn't": 'should not',
    "wouldn't": 'would not',
  }),
)

/** Before a participle, `'s` may also mean "has": "what's been done". Regular participles end in -ed. */
const participles = wordSet(`
  been got had done gone become eaten bitten written given taken seen known left said made found lost won come run begun broken chosen
  driven fallen forgotten grown hidden thrown worn sold told bought brought caught taught thought kept slept spent sent built paid met
  read put set cut hit shut hurt drunk sung swum risen flown drawn shown proven stolen spoken woken beaten
`)
const pronouns = wordSet('he she it he they we you i')
/** After one of these, a contraction is mentioned, not used: "when do I use it's", "its or it's". */
const beforeMention = wordSet(`
  not or versus vs between use used using uses than write writing type typing put of with for from in into by about like on
`)
const afterMention = wordSet('or versus vs and')

/** Expands contractions before position `end`. */
export function expandContractions(tokens: readonly Token[], end = tokens.length): Token[] {
  return tokens.flatMap((token, at) => {
    if (token.kind !== 'word' || at >= end) return [token]
    const whole = token.key === 'IM' || token.key === 'IVE' ? undefined : table.get(token.key.toLowerCase())
    if (whole === undefined || isHas(tokens, at) || isMentioned(tokens, at)) return [token]
    return replaceWords([token], whole.split(' '), 'contraction')
  })
}

function isHas(tokens: readonly Token[], at: number): boolean {
  if (!tokens[at]?.key.endsWith("'s")) return false
  const verb = lowerKey(tokens[pronouns.has(lowerKey(tokens[at + 1])) ? at + 2 : at + 1])
  return participles.has(verb) || verb.endsWith('ed')
}

/** A contraction in use follows no auxiliary, and ends a sentence only if it is a negation. */
function isMentioned(tokens: readonly Token[], at: number): boolean {
  const [before, next] = [lowerKey(tokens[at - 1]), tokens[at + 1]]
  const ends = (next === undefined || next.kind === 'mark') && !/n'?t$/.test(lowerKey(tokens[at]))
  return ends || auxiliaries.has(before) || beforeMention.has(before) || afterMention.has(lowerKey(next))
}
