/** Words that may stand for one another, once in a text: the same thing by another name, whatever the sentence. */
import { lowerKey } from '../../text/phrases.ts'
import type { Token } from '../../text/token.ts'

/** Each with the words after which, or before which, the pair is no longer one. */
const pairs: ReadonlyArray<readonly [one: string, other: string, notBefore?: string]> = [
  ['kids', 'children'],
  ['movie', 'film', 'roll camera'],
  ['movies', 'films'],
  ['purchase', 'buy', 'order orders'],
  ['begin', 'start', 'up'],
  ['photo', 'picture', 'book frame'],
  ['photos', 'pictures'],
  ['photograph', 'photo'],
  ['photographs', 'photos'],
  ['automobile', 'car'],
  ['bicycle', 'bike'],
]
const exchanges = new Map(
  pairs.flatMap(([one, other, notBefore]) => {
    const condition = new Set(notBefore?.split(' '))
    return [
      [`${one} ${other}`, condition],
      [`${other} ${one}`, condition],
    ]
  }),
)

/** Whether the tokens at this place of two otherwise equal texts may be exchanged. */
export function isExchange(ours: readonly Token[], theirs: readonly Token[], at: number): boolean {
  const [one, other] = [ours[at], theirs[at]]
  if (one?.kind !== 'word' || other?.kind !== 'word') return false
  const notBefore = exchanges.get(`${one.key} ${other.key}`)
  // What a word means is asked of that word.
  return notBefore !== undefined && !notBefore.has(lowerKey(ours[at + 1])) && lowerKey(ours.at(-1)) !== 'mean'
}
