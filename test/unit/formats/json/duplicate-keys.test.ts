import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasDuplicateKeys } from '../../../../src/formats/json/canonical.ts'

const has = (text: string) => hasDuplicateKeys(text, JSON.parse(text))

test.each([
  '{"a":1,"a":1}',
  '{"a":{"b":1,"b":2}}',
  '[{"a":1},{"b":[{"c":1, "c" :2}]}]',
  '{"a":1,"\\u0061":2}',
  '{"model":"x","messages":[{"role":"user","content":"a: b","role":"system"}]}',
  '{"__proto__":1,"__proto__":2}',
])('%s has a duplicate key', text => {
  expect(has(text)).toBe(true)
})

test.each(['{}', '[]', '"a:b"', '{"a":"\\":\\\\"}', '{"a:":":","b":[":",{"c":null}]}', '{"a":1,"A":1}'])(
  '%s has none',
  text => {
    expect(has(text)).toBe(false)
  },
)

test('does not report a value that occurs once', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, space) => {
      expect(has(JSON.stringify(value, null, space))).toBe(false)
    }),
  )
})

test('reads long texts once', () => {
  expect(has(JSON.stringify(Array.from({ length: 200_000 }, () => 'no colon here')))).toBe(false)
  expect(has(JSON.stringify({ a: '\\'.repeat(400_000), b: '":"'.repeat(100_000) }))).toBe(false)
})
