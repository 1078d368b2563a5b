/** Vetoes when the same words stand in another order that changes who does what: "do lions eat hyenas", "do hyenas eat lions". */
import type { Guard, GuardFeatures } from '../guard.ts'
import { wordSet } from '../lexicon/word-list.ts'
import type { Token } from '../reading/token.ts'

/** Two things joined by one of these may not change places around it. */
const directional = wordSet(
  'to from into onto than before after over under above below by against with without in on at for of as minus divided > < - ÷ ^ → ⇒',
)
/** Around these the order does not count. */
const symmetric = wordSet('and or vs versus between & nor')

interface Thing {
  token: Token
  at: number
}

export const wordOrder: Guard<'word-order'> = {
  name: 'word-order',
  differs: ({ asked, cached }) => {
    const [here, there] = [thingsOf(asked), thingsOf(cached)]
    if (here.length !== there.length) return false
    let from = 0
    let to = here.length
    while (from < to && isSame(here[from], there[from])) from += 1
    while (to > from && isSame(here[to - 1], there[to - 1])) to -= 1
    return to - from > 1 && isExchange(here.slice(from, to), there.slice(from, to), asked, cached)
  },
}

function thingsOf({ tokens }: GuardFeatures): Thing[] {
  return tokens.flatMap((token, at) => (token.weight === 'function' ? [] : [{ token, at }]))
}

function isSame(one: Thing | undefined, other: Thing | undefined): boolean {
  return one !== undefined && other !== undefined && one.token.forms.some(form => other.token.forms.includes(form))
}

/** Whether `here` is X M Y and `there` is Y M X, in a way that counts. */
function isExchange(
  here: readonly Thing[],
  there: readonly Thing[],
  asked: GuardFeatures,
  cached: GuardFeatures,
): boolean {
  const size = here.length
  const x = size - there.findIndex(thing => isSame(thing, here[0]))
  const y = there.findIndex(thing => isSame(thing, here[size - 1])) + 1
  if (x > size || y === 0 || x + y > size) return false
  const turned = [...here.slice(size - y), ...here.slice(x, size - y), ...here.slice(0, x)]
  if (!turned.every((thing, at) => isSame(thing, there[at]))) return false
  const between = wordsBetween(asked, here[x - 1], here[size - y])
  const betweenTurned = wordsBetween(cached, there[y - 1], there[size - x])
  if (between.some(word => directional.has(word) && betweenTurned.includes(word))) return true
  if (x + y === size) return turnsSubject(asked, cached)
  return ![...between, ...betweenTurned].some(word => symmetric.has(word)) && hasPassive(asked) === hasPassive(cached)
}

/** "Are bats birds?", "what eats lions?": there the place alone says which is the subject. */
function turnsSubject(asked: GuardFeatures, cached: GuardFeatures): boolean {
  const isCopula = [asked, cached].every(({ tokens }) => /^(?:is|are|was|were)$/.test(tokens[0]?.key ?? ''))
  if (isCopula && thingsOf(asked).length === 2) return true
  const asksSubject = (['what', 'which', 'who'] as const).some(kind => asked.kinds.has(kind) && cached.kinds.has(kind))
  return asksSubject && hasDo(asked) !== hasDo(cached)
}

function hasDo({ tokens }: GuardFeatures): boolean {
  return tokens.slice(0, 4).some(token => /^(?:do|does|did)$/.test(token.key))
}

function wordsBetween({ tokens }: GuardFeatures, from: Thing | undefined, to: Thing | undefined): string[] {
  return tokens
    .slice((from?.at ?? 0) + 1, to?.at ?? 0)
    .filter(token => token.weight === 'function')
    .map(token => token.key)
}

/** In the passive the parts change places and the meaning stays. */
function hasPassive({ tokens }: GuardFeatures): boolean {
  return tokens.some(token => /^(?:is|are|was|were|be|been|being|get|gets|got)$/.test(token.key))
}
