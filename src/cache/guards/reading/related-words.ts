/** Tells whether two words are derivations of one another that ask for the same thing: "withdraw" and "withdrawal". */
import { ownAdverbs } from '../lexicon/irregular-forms.ts'
import { wordSet } from '../lexicon/word-list.ts'

const shortestRoot = 5

const suffixes = wordSet('ly ally al ment ion ation ition age ance ence ity ness n an ian i ese ing ed en ic ical able')

/** Pairs that look derived and are not. */
const unrelated = new Set([
  'apart apartment',
  'depart department',
  'intern internal',
  'universe university',
  'commune community',
  'human humanity',
  'human humanities',
  'person personal',
  'origin original',
  'nation national',
  'secret secretion',
  'contract contraction',
  'except exception',
  'object objection',
  'project projection',
  'critic critical',
  'historic historical',
  'economic economical',
  'graphic graphical',
  'immune immunity',
  'organ organic',
  'moral morale',
  'custom customs',
  'govern governance',
  'market marketing',
  'accident accidental',
  'inform information',
  'absorb absorption',
  'mortal mortality',
  'elect electric',
  'electr electric',
  'patent patency',
  'german germanic',
  'roman romance',
  'roman romanian',
  'indian indiana',
  'formal formality',
  'final finality',
  'vital vitality',
  'active activity',
  'facile facility',
  'public publication',
  'central centrality',
  'minor minority',
  'major majority',
  'senior seniority',
  'author authority',
  'prior priority',
  'popul population',
  'probable probability',
])

/** Whether one lower-case word is the other with a suffix that keeps its meaning, or spells it with a letter doubled or not. */
export function areRelated(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  if (unrelated.has(`${short} ${long}`)) return false
  return isDerived(short, long) || isDoubled(short, long)
}

function isDerived(short: string, long: string): boolean {
  if (short.length < shortestRoot || ownAdverbs.has(long)) return false
  if (long.startsWith(short)) return suffixes.has(long.slice(short.length))
  const root = short.replace(/[ey]$/, '')
  return root !== short && long.startsWith(root) && suffixes.has(long.slice(root.length))
}

/** Whether one lower-case word names who does what the other says: "inventor" and "invent". */
export function isAgentOf(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  return short.length >= 4 && long.startsWith(short) && /^(?:r|er|or)$/.test(long.slice(short.length))
}

/** "accomodation" for "accommodation": one letter single in one and double in the other, in a word of some length. */
function isDoubled(short: string, long: string): boolean {
  if (short.length < 7 || long.length !== short.length + 1) return false
  let at = 0
  while (at < short.length && short[at] === long[at]) at += 1
  return at > 0 && long[at] === long[at - 1] && short.slice(at) === long.slice(at + 1)
}
