import { expect, test } from 'vitest'
import { canonicalizeBody, sha256 } from '../../../../src/formats/json/canonical.ts'
import { isLargeBody, largeBodyReader, measureJson } from '../../../../src/formats/large-bodies/read-large-body.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const read = (value: unknown) => largeBodyReader.read(encode(JSON.stringify(value)), { owner: 1 })
const messages = (count: number, length: number) =>
  Array.from({ length: count }, (_, n) => ({
    role: 'user',
    content: `${n} ${'so "many", words: '.repeat(length / 18)}`,
  }))

test('returns the parsed body unchanged, with the hash of what counts', async () => {
  const sent = {
    model: 'm',
    stream: true,
    messages: messages(300, 1_800),
    schema: { properties: { b: 1, a: [1, 2.5] } },
  }
  const { bytes, hasInexactNumber, body, canonicalBody } = await read(sent)
  expect(new TextDecoder().decode(bytes)).toBe(JSON.stringify(sent))
  expect(isLargeBody(bytes)).toBe(true)
  expect(hasInexactNumber).toBe(false)
  expect(body).toEqual(sent)
  expect(canonicalBody).toBe(`#${sha256(canonicalizeBody(sent))}`)
})

test('bodies that are read at the same time each get their own result', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => read({ n, messages: messages(10, 180) })))
  expect(answers.map(({ body }) => body.n)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})

test('reads a part of a larger buffer as that part', async () => {
  const whole = encode(`xx${JSON.stringify({ a: 1 })}xx`)
  expect((await largeBodyReader.read(whole.subarray(2, whole.length - 2), { owner: 1 })).body).toEqual({ a: 1 })
})

test.each([
  ['no JSON', () => encode('{"a":'), 'must be one valid JSON object'],
  ['no object', () => encode('[1]'), 'must be a JSON object'],
  ['no UTF-8', () => new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), 'UTF-8'],
  ['too many fields', () => encode(`{"a":[${'{"b":1},'.repeat(40_001)}0]}`), 'more than 40000 fields'],
  ['too many items', () => encode(`{"a":[${'1,'.repeat(1_100_200)}1]}`), 'more than 400000 array items'],
  [
    'too many names',
    () => encode(JSON.stringify(Object.fromEntries(messages(25_001, 0).map((_, n) => [n, 1])))),
    'names',
  ],
  [
    'too many arrays',
    () => encode(`{"a":[${`${'['.repeat(100)}${']'.repeat(100)},`.repeat(4_500)}0]}`),
    'more than 400000 array items',
  ],
  ['too deep', () => encode(`{"a":${'['.repeat(200)}${']'.repeat(200)}}`), 'nested'],
])('rejects %s with a 400 that says why', async (_, bytes, message) => {
  await expect(largeBodyReader.read(bytes(), { owner: 1 })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining(message),
  })
})

test.each([
  ['{}', 0, 1],
  ['{"a":1,"b":[1,2,3]}', 2, 3],
  ['{"a:,\\"":"\\\\"}', 1, 1],
  ['["\\\\\\"",1]', 0, 2],
  ['"unended \\"', 0, 0],
  [`{"a":"${'['.repeat(300)}"}`, 1, 1],
])('measures %s outside its strings', (text, fields, items) => {
  expect(measureJson(encode(text))).toEqual({ fields, items })
})

test.each([128, 129])('%i levels', levels => {
  const nested = encode(`{"a":${'[{"b":'.repeat((levels - 1) >> 1)}${levels % 2 ? '' : '['}`)
  const isRefused = () => expect(() => isLargeBody(nested)).toThrow('nested more than 128 levels')
  if (levels > 128) isRefused()
  else expect(isLargeBody(nested)).toBe(false)
})

test('reserves memory for what is derived from a body', async () => {
  const held: number[] = []
  const hold = (bytes: number) => void held.push(bytes)
  await largeBodyReader.read(encode(`{"a":[${'[],'.repeat(1_000)}0]}`), { owner: 1, hold })
  await largeBodyReader.read(encode(`{"a":"${'x'.repeat(10_000)}"}`), { owner: 1, hold })
  expect(held[0]).toBeGreaterThan(1_000 * 2 * 64)
  expect(held[1]).toBeGreaterThan(20_000)
  const refused = largeBodyReader.read(encode('{}'), {
    owner: 1,
    hold: () => {
      throw new Error('full')
    },
  })
  await expect(refused).rejects.toThrow('full')
})

test.each([
  ['a long body', `{"a":"${'x'.repeat(262_144)}"}`, true],
  ['much text', `{"a":"${'x'.repeat(200_000)}"}`, false],
  ['many fields', `{${'"a":1,'.repeat(4_000)}"b":1}`, true],
  ['many items', `[${'1,'.repeat(40_000)}1]`, true],
  ['few fields', `{${'"a":1,'.repeat(1_000)}"b":"${'x'.repeat(20_000)}"}`, false],
])('%s: classifies a body as large by the time it takes', (_, text, isLarge) => {
  expect(isLargeBody(encode(text))).toBe(isLarge)
})
