/** Generates numbers and texts that match a schema, also texts that have a format or match a pattern. */
import { asNumber, asString, type JsonObject } from '../../formats/json/canonical.ts'
import {
  contradictionError,
  instanceTooLargeError,
  isInRange,
  isNumberAllowed,
  UnsatisfiableSchemaError,
} from './schema-rules.ts'

/** A value's position: texts contain the name of their field, and the items of a list differ by their index. */
export interface ValuePosition {
  name: string
  index: number
}

const MAX_TEXT_CHARS = 131_072
/** The number of candidates that are tested until one matches. */
const MAX_ATTEMPTS = 200

export function generateNumber(schema: JsonObject, type: 'integer' | 'number', { index }: ValuePosition): number {
  const low = Math.max(asNumber(schema.minimum, -Infinity), asNumber(schema.exclusiveMinimum, -Infinity))
  const high = Math.min(asNumber(schema.maximum, Infinity), asNumber(schema.exclusiveMaximum, Infinity))
  const step = asNumber(schema.multipleOf, 1)
  const isFit = (value: number) => isNumberAllowed(value, schema) && (type === 'number' || Number.isInteger(value))
  const [start, direction] =
    low > -Infinity ? [Math.ceil(low / step), 1] : high < Infinity ? [Math.floor(high / step), -1] : [1, 1]
  const first = index % Math.max(1, Math.floor((high - low) / step) + 1)
  for (let at = first; at < first + MAX_ATTEMPTS; at++) {
    // Rounding makes three times 0.1 equal to 0.3.
    const value = Number(((start + at * direction) * step).toPrecision(15))
    if (isFit(value)) return value
  }
  const found = [low + (high - low) * ((index % 97) + 1) * 0.01, low, high].find(isFit)
  if (found === undefined) throw contradictionError()
  return found
}

export function generateText(schema: JsonObject, { name, index }: ValuePosition): string {
  const [min, max] = [asNumber(schema.minLength, 0), asNumber(schema.maxLength, Infinity)]
  if (min > MAX_TEXT_CHARS) throw instanceTooLargeError()
  const sample = FORMAT_SAMPLES[asString(schema.format)]?.(index)
  const fits = (text: string | undefined): text is string => text !== undefined && isInRange([...text].length, min, max)
  if (schema.pattern !== undefined) {
    // The format's sample is used when no text can be derived from the pattern.
    const text = generateMatchingText(asString(schema.pattern), index, min) ?? sample
    if (fits(text)) return text
    throw new UnsatisfiableSchemaError('has a pattern that the sandbox cannot satisfy')
  }
  if (fits(sample)) return sample
  const text = `sandbox ${name}`
  const shown = [...(text.length > max ? `${index} ${text}` : text)].slice(0, Math.max(0, max))
  const whole = shown.join('') + '.'.repeat(Math.max(0, min - shown.length))
  if (fits(whole)) return whole
  throw contradictionError()
}

const address = (nth: number) => `sandbox${nth + 1}@example.com`
const host = (nth: number) => `sandbox${nth + 1}.example.com`
const link = (nth: number) => `https://example.com/sandbox/${nth + 1}`
const two = (number: number) => `${number}`.padStart(2, '0')

/** Samples of each format, with names and addresses that RFC 2606, 3849 and 5737 reserve for examples. Items of a list differ by their index. */
const FORMAT_SAMPLES: Record<string, (nth: number) => string> = {
  __proto__: null as never,
  email: address,
  'idn-email': address,
  hostname: host,
  'idn-hostname': host,
  uri: link,
  url: link,
  iri: link,
  'uri-reference': link,
  'uri-template': nth => `/sandbox/${nth + 1}/{id}`,
  ipv4: nth => `192.0.2.${nth % 256}`,
  ipv6: nth => `2001:db8::${(0x1000 + (nth % 0xefff)).toString(16)}`,
  date: nth => `${2024 + Math.floor(nth / 28)}-01-${two((nth % 28) + 1)}`,
  time: nth => `${two(nth % 24)}:${two(Math.floor(nth / 24) % 60)}:00Z`,
  'date-time': nth => `${2024 + Math.floor(nth / 28)}-01-${two((nth % 28) + 1)}T00:00:00Z`,
  duration: nth => `P${nth + 1}D`,
  uuid: nth => `00000000-0000-4000-8000-${`${nth}`.padStart(12, '0')}`,
  regex: nth => `^sandbox${nth + 1}$`,
  byte: nth => btoa(`sandbox ${nth + 1}`),
  base64: nth => btoa(`sandbox ${nth + 1}`),
}

/** The characters of samples, the max common first. */
const POOL = [
  ...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_. @/:#+,;!?%&()[]{}<>=*~^$|\\"\'`\tαβγéß😀',
]
const MAX_PATTERN_CHARS = 1_000
const MAX_SAMPLE_CHARS = 10_000
/** The upper bound on repetitions beyond the pattern's minimum, which are added one by one to reach the minimum length. */
const MAX_EXTRA = 600

/** One of several characters, one of several sequences, or a repetition. */
type Part = { options: string[] } | { sequences: Part[][] } | { part: Part; min: number; max: number }

/**
 * Returns a text of at least `min` characters that matches the pattern; undefined for an invalid pattern, and for lookarounds, backreferences
 * and inner anchors, which this generator does not support. It never runs the pattern, because that could take too long.
 */
function generateMatchingText(pattern: string, nth: number, min: number): string | undefined {
  if (pattern.length > MAX_PATTERN_CHARS) return undefined
  try {
    new RegExp(pattern, 'u')
    const sequences = new PatternReader(pattern).read()
    for (let extra = 0; extra <= MAX_EXTRA; extra++) {
      const text = write(sequences, nth, extra)
      if (text.length >= min) return text
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return undefined
}

function write(sequences: Part[][], nth: number, extra: number): string {
  let text = ''
  let left = nth
  const add = (part: Part): void => {
    if (text.length > MAX_SAMPLE_CHARS) throw new SyntaxError('too long')
    if ('options' in part) {
      text += part.options[left % part.options.length]
      left = Math.floor(left / part.options.length)
    } else if ('sequences' in part) part.sequences[0]?.forEach(add)
    else for (let count = Math.min(part.max, part.min + extra); count > 0; count--) add(part.part)
  }
  sequences[0]?.forEach(add)
  return text
}

/** Parses a valid pattern. Throws a SyntaxError for syntax that the generator does not support. */
class PatternReader {
  #at = 0
  readonly #pattern: string

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  read(): Part[][] {
    const sequences = this.#readSequences(true)
    if (this.#at < this.#pattern.length) throw new SyntaxError('unbalanced')
    return sequences
  }

  #match(form: RegExp): RegExpExecArray | null {
    form.lastIndex = this.#at
    const found = form.exec(this.#pattern)
    if (found) this.#at += found[0].length
    return found
  }

  /** Reads alternatives up to a closing bracket or the end. Anchors are allowed only at the ends of the whole pattern's alternatives. */
  #readSequences(isWhole: boolean): Part[][] {
    const sequences: Part[][] = []
    do {
      if (isWhole) this.#match(/\^/y)
      const parts: Part[] = []
      while (!this.#match(/(?=$|[|)])/y)) {
        if (isWhole && this.#match(/\$(?=\||$)/y)) break
        parts.push(this.#readRepeated())
      }
      sequences.push(parts)
    } while (this.#match(/\|/y))
    return sequences
  }

  #readRepeated(): Part {
    const part = this.#readPart()
    const [sign, from, comma, to] = this.#match(/(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/y) ?? []
    if (sign === undefined) return part
    if (from !== undefined) return { part, min: Number(from), max: to ? Number(to) : comma ? Infinity : Number(from) }
    return { part, min: sign.startsWith('+') ? 1 : 0, max: sign.startsWith('?') ? 1 : Infinity }
  }

  #readPart(): Part {
    if (this.#match(/\((?:\?:|\?<[^=!>]+>)?(?!\?)/y)) {
      const sequences = this.#readSequences(false)
      this.#match(/\)/y)
      return { sequences }
    }
    const literal = this.#match(/[^\\[(^$.]/uy)
    if (literal) return { options: [literal[0]] }
    const set = this.#match(
      /\.|\[(?:\\.|[^\]\\])*\]|\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|[^bBk1-9])/uy,
    )
    const isInSet = new RegExp(`^${set?.[0]}$`, 'u')
    const options = set ? POOL.filter(character => isInSet.test(character)) : []
    if (options.length === 0) throw new SyntaxError('unsupported syntax')
    return { options }
  }
}
