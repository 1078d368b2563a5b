import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Credentials } from '../../../src/providers/credentials/credentials.ts'
import { containsCredential, ENCODINGS } from '../../harness/quote-credential.ts'

const SECRET = 'sk-proj-a1B2c3D4e5F6g7H8i9J0/kL+m~n_o'
const OTHER = 'gsk_another0123456789'
const credentials = new Credentials([SECRET, OTHER])

function filter(parts: readonly Uint8Array[], by = credentials) {
  const open = by.createRedactor()
  const outputs = [...parts.map(part => Buffer.from(open.push(part))), Buffer.from(open.end())]
  return { text: Buffer.concat(outputs).toString(), outputs, hasFound: open.hasFound }
}

/** Splits the text's bytes at these fractions of their length. */
function cut(text: string, at: readonly number[]): Uint8Array[] {
  const bytes = Buffer.from(text)
  const places = [0, ...at.map(fraction => Math.floor(fraction * bytes.length)).sort((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end))
}

const fractions = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 })

describe.each(Object.entries(ENCODINGS))('%s', (_, spell) => {
  test.each([SECRET, OTHER])('is redacted, wherever the bytes are cut', secret => {
    const told = `{"error":{"message":"Incorrect key: ${spell(secret)}."}}`
    expect(containsCredential(told, secret)).toBe(true)
    fc.assert(
      fc.property(fractions, at => {
        const { text, hasFound } = filter(cut(told, at))
        expect([containsCredential(text, secret), hasFound]).toEqual([false, true])
        expect(text).toContain('[redacted]')
        expect(JSON.parse(text).error.message).toMatch(/^Incorrect key: .*\.$/)
      }),
    )
  })

  test('is redacted byte by byte', () => {
    const told = `${spell(SECRET)}${spell(OTHER)}`
    const { text } = filter([...Buffer.from(told)].map(byte => Uint8Array.of(byte)))
    expect([containsCredential(text, SECRET), containsCredential(text, OTHER)]).toEqual([false, false])
  })
})

test('leaves all other bytes unchanged, and holds none where no credential can begin', () => {
  const piece = fc.constantFrom(
    ...['sk-', 'proj', SECRET.slice(0, -1), '\\', '\\u0073', '%', '%25', '\n', '"', 'é', OTHER.slice(1)],
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string())), fractions, (pieces, at) => {
      const told = `${pieces.join('')}\n\n`
      const { text, outputs, hasFound } = filter(cut(told, at))
      expect([text, hasFound, outputs.at(-1)?.length]).toEqual([told, false, 0])
    }),
  )
})

test('of two credentials with a common beginning, redacts the longer', () => {
  const both = new Credentials(['sk-0123456789', 'sk-0123456789-more'])
  expect(filter([Buffer.from('a sk-0123456789-more b sk-0123456789')], both).text).toBe('a [redacted] b [redacted]')
})

test('placeholders in settings of servers without keys are no secrets', () => {
  for (const word of ['', 'x', 'none', 'EMPTY', 'anything', '12345678']) {
    expect(new Credentials([word]).redact(`There is ${word} here`)).toBe(`There is ${word} here`)
  }
})

/** Counts reads of the array's elements and properties. */
function countReads(bytes: Uint8Array): number {
  let reads = 0
  const counting = new Proxy(bytes, {
    get(target, name) {
      reads++
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  credentials.createRedactor().push(counting)
  return reads
}

test.each([SECRET.slice(0, -1), '\\', '%25', '%', 'sk-', '\\u0073', 'a'])(
  'the time for %j, repeated, is linear in its bytes',
  unit => {
    const [short, long] = [1_000, 10_000].map(times => countReads(Buffer.from(unit.repeat(times))))
    expect(long as number).toBeLessThan(11 * (short as number) + 1_000)
  },
)
