import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashRequest } from '../../../../src/cache/cache-query.ts'
import { canonicalizeBody, hasInexactNumber } from '../../../../src/formats/json/canonical.ts'

function hash(
  bodyText: string,
  other: Partial<{ namespace: string; version: string; endpoint: string; route: string }> = {},
): string {
  const body = JSON.parse(bodyText)
  return hashRequest({
    namespace: '',
    version: '',
    endpoint: 'chat',
    route: 'openrouter',
    headers: [],
    body,
    canonicalBody: canonicalizeBody(body),
    source: { text: bodyText, hasInexactNumber: hasInexactNumber(bodyText), isLarge: false },
    ...other,
  })
}

const base = '{"model":"m","messages":[{"role":"user","content":"hi"}],"seed":1}'

test.each([
  ['key order and white space', '{ "seed": 1, "messages": [{"content":"hi","role":"user"}], "model": "m" }'],
  ['streaming', '{"model":"m","messages":[{"role":"user","content":"hi"}],"seed":1,"stream":true,"stream_options":{}}'],
  [
    'an end user and metadata',
    '{"model":"m","messages":[{"role":"user","content":"hi"}],"seed":1,"user":"u","metadata":{"a":"b"}}',
  ],
  ['the notation of a number', '{"model":"m","messages":[{"role":"user","content":"hi"}],"seed":1.0}'],
])('ignores %s', (_, bodyText) => {
  expect(hash(bodyText)).toBe(hash(base))
})

test.each([
  ['a seed', '{"model":"m","messages":[{"role":"user","content":"hi"}],"seed":2}'],
  ['an unknown field', '{"model":"m","messages":[{"role":"user","content":"hi"}],"seed":1,"invented_tomorrow":null}'],
  ['null instead of a value', '{"model":"m","messages":[{"role":"user","content":"hi"}],"seed":null}'],
  ['a number as text', '{"model":"m","messages":[{"role":"user","content":"hi"}],"seed":"1"}'],
  ['letter case', '{"model":"m","messages":[{"role":"user","content":"Hi"}],"seed":1}'],
  [
    'a field called __proto__',
    '{"model":"m","messages":[{"role":"user","content":"hi"}],"seed":1,"__proto__":{"a":1}}',
  ],
  ['the position of a value', '{"model":"m","messages":[{"role":"user","content":"hi","seed":1}]}'],
])('distinguishes %s', (_, bodyText) => {
  expect(hash(bodyText)).not.toBe(hash(base))
})

test('distinguishes the order of properties in a schema, because a model writes them in that order', () => {
  const schema = (properties: string) =>
    hash(`{"model":"m","messages":[],"tools":[{"function":{"parameters":{${properties}}}}]}`)
  expect(schema('"a":{},"b":{}')).not.toBe(schema('"b":{},"a":{}'))
})

test('distinguishes numbers that round to the same one', () => {
  const seed = (digits: string) => hash(`{"model":"m","messages":[],"seed":${digits}}`)
  expect(seed('9007199254740993')).not.toBe(seed('9007199254740992'))
})

test('distinguishes long texts to their last character, and from their hash', () => {
  const content = (text: string) => hash(JSON.stringify({ model: 'm', content: text }))
  const long = 'x'.repeat(5_000)
  expect(content(`${long}a`)).not.toBe(content(`${long}b`))
  const digest = new Bun.CryptoHasher('sha256').update(long).digest('hex')
  expect(content(long)).not.toBe(content(`#${digest}`))
})

test.each([{ namespace: 'other' }, { version: 'a@1' }, { endpoint: 'completions' }, { route: 'openai' }])(
  'distinguishes %o',
  other => {
    expect(hash(base, other)).not.toBe(hash(base))
  },
)

test('two bodies are canonically equal only if they are equal', () => {
  const property = fc.property(
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.dictionary(fc.string(), fc.jsonValue()),
    (a, b) => {
      const [one, other] = [JSON.parse(JSON.stringify({ f: a })), JSON.parse(JSON.stringify({ f: b }))]
      const isSame = Bun.deepEquals(one, other, true)
      expect(canonicalizeBody(one) === canonicalizeBody(other)).toBe(isSame)
    },
  )
  fc.assert(property)
})
