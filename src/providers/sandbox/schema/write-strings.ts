/** Owns proposing strings for a schema: of its format, of its patterns, or plain ones made from the property's name. */
import type { JsonObject } from '../../../json/json-object.ts'
import { writePattern } from '../pattern/write-pattern.ts'
import { writeFormat } from './formats.ts'
import { countOf, textOf } from './keywords.ts'
import type { Maker } from './maker.ts'
import { lengthOf } from './satisfies-scalar.ts'

interface Lengths {
  least: number
  most: number
}

const FEWEST_PATTERN_VARIANTS = 6
/** A pattern's text is written this much longer than it must be, to say more than `a`. */
const LIKED_EXTRA_CHARS = 4
const LONGEST_NAME_CHARS = 40

/** Proposals of about the right length; the caller checks them. */
export function* writeStrings(parts: JsonObject[], maker: Maker): Generator<string> {
  const lengths: Lengths = {
    least: Math.max(0, ...parts.map(part => countOf(part, 'minLength') ?? 0)),
    most: Math.min(...parts.map(part => countOf(part, 'maxLength') ?? Infinity)),
  }
  if (lengths.least > lengths.most) return
  maker.shop.budget.spend(lengths.least / 8)
  const { name, variety } = maker.place
  const formats = parts.map(part => textOf(part, 'format')).filter(format => format !== undefined)
  for (const format of formats) {
    for (let variant = 0; variant < variety; variant++) yield* writeFormat(format, variant)
  }
  const patterns = [...new Set(parts.map(part => textOf(part, 'pattern')).filter(pattern => pattern !== undefined))]
  if (patterns.length > 0) yield* writeMatching(patterns, lengths, maker)
  else for (let variant = 0; variant < variety; variant++) yield writePlain(name, variant, lengths)
}

function writePlain(name: string, variant: number, { least, most }: Lengths): string {
  const base = `sandbox ${name.slice(0, LONGEST_NAME_CHARS).toWellFormed()}`
  const text = variant === 0 ? base : `${base} ${variant + 1}`
  if (lengthOf(text) < least)
    return text + ' sandbox'.repeat(Math.ceil((least - lengthOf(text)) / 8)).slice(0, least - lengthOf(text))
  if (lengthOf(text) <= most) return text
  // In little room the number is what makes variants differ.
  return variant === 0 ? [...text].slice(0, most).join('') : variant.toString(36).padStart(most, '0')
}

function* writeMatching(patterns: string[], lengths: Lengths, maker: Maker): Generator<string> {
  const variants = Math.max(maker.place.variety, FEWEST_PATTERN_VARIANTS)
  for (let variant = 0; variant < variants; variant++) {
    const write = (source: string, extraChars: number) =>
      writePattern(maker.shop.patternOf(source), { variant, extraChars }, maker.shop.budget)
    for (const source of patterns) yield* stretch(extraChars => write(source, extraChars), variant, lengths)
    // Beginnings before ends: `^ab`, `q` and `yz$` make one text together.
    const joined = [...patterns].sort((one, other) => weighEdges(one) - weighEdges(other))
    if (joined.length > 1)
      yield* stretch(extraChars => joined.map(source => write(source, extraChars)).join(''), variant, lengths)
  }
}

const weighEdges = (source: string) => Number(source.endsWith('$')) - Number(source.startsWith('^'))

/** The text at the lengths it may have; where it does not grow by itself, with letters before or after it. */
function* stretch(write: (extraChars: number) => string, variant: number, { least, most }: Lengths): Generator<string> {
  const shortest = write(0)
  const missing = least - lengthOf(shortest)
  if (missing <= 0) {
    if (lengthOf(shortest) + LIKED_EXTRA_CHARS <= most) yield write(LIKED_EXTRA_CHARS)
    yield shortest
    // What the pattern leaves open makes variants differ where the pattern itself has no room for them.
    if (variant > 0) yield shortest + variant.toString(36)
    return
  }
  yield write(missing)
  yield shortest + 'a'.repeat(missing)
  yield 'a'.repeat(missing) + shortest
  for (let half = 1; half <= missing; half *= 2) yield write(Math.ceil(missing / half))
}
