/** English contractions, each with what it stands for; those that may stand for two things, or are a word without the apostrophe, are left out. */
import { replaceWords, type Token } from '../token.ts'

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

/** What `'s` may also be before a participle: "what's been done". */
const participles = new Set(['been', 'got', 'had', 'done', 'gone', 'become', 'happened', 'changed'])

export function expandContractions(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token, at) => {
    if (token.kind !== 'word') return [token]
    const whole = token.key === 'IM' || token.key === 'IVE' ? undefined : table.get(token.key.toLowerCase())
    if (whole === undefined || isHas(token, tokens[at + 1])) return [token]
    return replaceWords([token], whole.split(' '), 'contraction')
  })
}

function isHas(token: Token, next: Token | undefined): boolean {
  return token.key.endsWith("'s") && participles.has(next?.key ?? '')
}
