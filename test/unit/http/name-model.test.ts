import { expect, test } from 'vitest'
import { addModelToBody, insertModel } from '../../../src/http/read-body.ts'

test.each([
  ['a body that names none', '{"seed": 12345678901234567890}', '{"model":"m","seed": 12345678901234567890}'],
  ['an empty one', ' { }', ' {"model":"m" }'],
  ['one that names its own', '{"model": "own"}', '{"model": "own"}'],
  ['one that names none but further in', '{"tool":{"model":1}}', '{"model":"m","tool":{"model":1}}'],
  ['one that quotes the word', '{"a":"\\"model\\":"}', '{"model":"m","a":"\\"model\\":"}'],
  ['what is no object', '[1]', '[1]'],
])('%s', (_, given, expected) => {
  expect(insertModel(given, 'm')).toBe(expected)
})

test.each([
  ['a long body that names none', '{"a":"', '{"model":"m","a":"'],
  ['one that names its own', '{"model":"own","a":"', '{"model":"own","a":"'],
])('%s', async (_, given, expected) => {
  const long = `${'x'.repeat(300_000)}"}`
  const bytes = Buffer.from(given + long)
  const body = addModelToBody(
    { contentLength: bytes.length, isSmall: false, reserveMemory() {}, readBytes: async () => bytes },
    null,
    'm',
  )
  expect(Buffer.from(await body.readBytes()).toString()).toBe(expected + long)
})
