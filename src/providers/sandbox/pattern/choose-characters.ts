/** Owns the choice of characters for a pattern's sets: readable ones first. */
import type { Budget } from '../schema/budget.ts'
import type { CharacterSetNode, Pattern } from './parse-pattern.ts'

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const UPPER = LOWER.toUpperCase()
const DIGITS = '0123456789'
const SIGNS = '_-.!@#$%^&*()+=[]{}|\\:;"\'<>,?/~` '

/** Letters before digits before signs; for odd variants one of each in turn, as rules for passwords want. */
const PLAIN = [...LOWER, ...DIGITS, ...UPPER, ...SIGNS, '\t', '\n']
const MIXED = [
  ...new Set([...LOWER].flatMap((lower, at) => [lower, UPPER[at] ?? '', DIGITS[at % 10] ?? '', SIGNS[at] ?? ''])),
]
/** One or two of the larger scripts and signs, for sets that no ASCII character is in. */
const BEYOND_ASCII = [...'éßñЖяαΩאش漢字かカ한ไ€©™→✓😀🚀🇪🇺\u200d\ufe0f\u20e3']
const LAST_SCANNED = 0x3100

/** Characters the set accepts, in the variant's order; none where it accepts nothing the sandbox knows. */
export function chooseCharacters(pattern: Pattern, set: CharacterSetNode, variant: number, budget: Budget): string[] {
  const accepted = (characters: string[]) =>
    characters.filter(character => pattern.accepts(set, character.codePointAt(0) ?? 0))
  budget.spend(8)
  const beyond = () => accepted(BEYOND_ASCII)
  const ascii = accepted(variant % 2 === 0 ? PLAIN : MIXED)
  // Every third variant looks further even where ASCII would do: a look-ahead may want it.
  const chosen = variant % 3 === 2 ? [...beyond(), ...ascii] : ascii
  if (chosen.length > 0) return chosen
  return (
    [beyond, () => accepted(listRangeStarts(set)), () => accepted(scan(budget))].map(list => list()).find(notEmpty) ??
    []
  )
}

function listRangeStarts(set: CharacterSetNode): string[] {
  if (set.type !== 'CharacterClass') return []
  return set.elements.flatMap(element => {
    if (element.type === 'Character') return [String.fromCodePoint(element.value)]
    return element.type === 'CharacterClassRange' ? [String.fromCodePoint(element.min.value)] : []
  })
}

function scan(budget: Budget): string[] {
  budget.spend(LAST_SCANNED / 8)
  return Array.from({ length: LAST_SCANNED }, (_, codePoint) => String.fromCodePoint(codePoint))
}

const notEmpty = (list: string[]) => list.length > 0
