import { describe, expect, test } from 'vitest'
import { parseLosslessJson } from '../../../../src/formats/json/lossless-json.ts'

describe('parsing lossless JSON', () => {
  test.each([
    '{"a":12345678901234567890}',
    '[-9223372036854775808,1234567890.12345678901234]',
    '{"a":[1e-400,2e400,123456789012345678]}',
    '{"a":1,"b":[true,null,"x"],"c":-0.5}',
  ])('writes %s as it was read', text => expect(JSON.stringify(parseLosslessJson(text))).toBe(text))

  test.each([
    ['{"a":1234567890123456,"b":0.70}', { a: 1234567890123456, b: 0.7 }],
    ['[0.30000000000000004,1.000]', [0.30000000000000004, 1]],
  ])('returns numbers for %s, which JavaScript can represent', (text, value) =>
    expect(parseLosslessJson(text)).toEqual(value),
  )

  test.each(['{', '{"a":12345678901234567890', 'nothing'])('throws for %s', text => {
    expect(() => parseLosslessJson(text)).toThrow(SyntaxError)
  })
})
