/** Vetoes when the same words stand in another order that changes who does what, or which way: "Paris to London". */
import type { Guard, GuardFeatures } from '../guard.ts'
import { wordSet } from '../lexicon/word-list.ts'
import type { Token } from '../reading/token.ts'

/** Between two things these say which way round: what stands before them may not change places with what stands behind. */
const directional = wordSet(
  'to from into onto than before after over under above below by against minus divided > < - ÷ ^ → ⇒',
)
/** Around these the order does not count. */
const symmetric = wordSet('and or vs versus between & + × times with nor')

export const wordOrder: Guard<'word-order'> = {
  name: 'word-order',
  differs: ({ asked, cached }) =>
    turnsDirection(asked, cached) || turnsPossession(asked, cached) || exchangesParts(asked, cached),
}

/** A way from X to Y against a way from Y to X, whatever else is said. */
function turnsDirection(asked: GuardFeatures, cached: GuardFeatures): boolean {
  const [here, there] = [endsOf(asked), endsOf(cached)]
  const changesRole = (one: Ends, other: Ends) =>
    [...one.sources].some(key => !one.targets.has(key) && other.targets.has(key) && !other.sources.has(key))
  return changesRole(here, there) && changesRole(there, here)
}

interface Ends {
  sources: Set<string>
  targets: Set<string>
}

function endsOf({ tokens }: GuardFeatures): Ends {
  const sources = new Set<string>()
  const targets = new Set<string>()
  for (const [at, token] of tokens.entries()) {
    const before = tokens[at - 1]
    const after = nextThing(tokens, at)
    if (token.key === 'from' && after !== undefined) sources.add(after.key)
    if ((token.key !== 'to' && token.key !== 'into') || after === undefined) continue
    targets.add(after.key)
    if (before !== undefined && before.weight !== 'function') sources.add(before.key)
  }
  return { sources, targets }
}

function nextThing(tokens: readonly Token[], at: number): Token | undefined {
  return tokens.slice(at + 1, at + 4).find(token => token.weight !== 'function')
}

/** "The mother of X's sister" in either order: X 's Y is Y of X, and not Y 's X. */
function turnsPossession(asked: GuardFeatures, cached: GuardFeatures): boolean {
  const here = possessionsOf(asked)
  if (here.size === 0) return false
  return [...possessionsOf(cached)].some(pair => here.has(pair.split(' ').reverse().join(' ')) && !here.has(pair))
}

function possessionsOf({ tokens }: GuardFeatures): Set<string> {
  const pairs = new Set<string>()
  for (const [at, token] of tokens.entries()) {
    const next = tokens[at + 1]
    if (token.kind === 'word' && token.weight !== 'function' && token.key.endsWith("'s") && next !== undefined) {
      pairs.add(`${baseOf(token)} ${baseOf(next)}`)
    }
    const owner = token.key === 'of' ? nextThing(tokens, at) : undefined
    const owned = tokens[at - 1]
    if (owner !== undefined && owned !== undefined) pairs.add(`${baseOf(owner)} ${baseOf(owned)}`)
  }
  return pairs
}

function baseOf(token: Token): string {
  return token.forms.at(-1)?.replace(/'s$/, '') ?? token.key
}

/** The same words, but two parts exchanged around what stands between them. */
function exchangesParts(asked: GuardFeatures, cached: GuardFeatures): boolean {
  const here = thingsOf(asked)
  const there = thingsOf(cached)
  if (here.length !== there.length || here.length < 2) return false
  let from = 0
  let to = here.length
  while (from < to && isSame(here[from], there[from])) from += 1
  while (to > from && isSame(here[to - 1], there[to - 1])) to -= 1
  if (to - from < 2) return false
  return isExchange(here.slice(from, to), there.slice(from, to), asked, cached)
}

interface Thing {
  token: Token
  at: number
}

function thingsOf({ tokens }: GuardFeatures): Thing[] {
  return tokens.flatMap((token, at) => (token.weight === 'function' ? [] : [{ token, at }]))
}

function isSame(one: Thing | undefined, other: Thing | undefined): boolean {
  return one !== undefined && other !== undefined && one.token.forms.some(form => other.token.forms.includes(form))
}

/** Whether `here` is X M Y and `there` is Y M X, in a way that counts. With no M, X and Y must be joined by a word of direction. */
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
  if (x + y === size && turnsSubject(asked, cached)) return true
  const isSymmetric = between.some(word => symmetric.has(word)) || betweenTurned.some(word => symmetric.has(word))
  return x + y < size && !isSymmetric && hasPassive(asked) === hasPassive(cached)
}

/** "Are bats birds?", "what eats lions?": there the place alone says which is the subject. */
function turnsSubject(asked: GuardFeatures, cached: GuardFeatures): boolean {
  const isCopula = [asked, cached].every(({ tokens }) => /^(?:is|are|was|were)$/.test(tokens[0]?.key ?? ''))
  if (isCopula && thingsOf(asked).length === 2) return true
  const asksSubject = (['what', 'who'] as const).some(kind => asked.kinds.has(kind) && cached.kinds.has(kind))
  return asksSubject && hasDo(asked) !== hasDo(cached)
}

function hasDo({ tokens }: GuardFeatures): boolean {
  return tokens.slice(0, 3).some(token => /^(?:do|does|did)$/.test(token.key))
}

function wordsBetween({ tokens }: GuardFeatures, from: Thing | undefined, to: Thing | undefined): string[] {
  return tokens
    .slice((from?.at ?? 0) + 1, to?.at ?? 0)
    .filter(token => token.weight === 'function')
    .map(token => token.key)
}

function hasPassive({ tokens }: GuardFeatures): boolean {
  return tokens.some(token => /^(?:is|are|was|were|be|been|being|get|gets|got)$/.test(token.key))
}
