import { expect, test } from 'vitest'
import { addModelToBody, insertModel } from '../../../src/http/read-body.ts'

test.each([
  ['a body without a model', '{"seed": 12345678901234567890}', '{"model":"m","seed": 12345678901234567890}'],
  ['an empty body', ' { }', ' {"model":"m" }'],
  ['a body with its own model', '{"model": "own"}', '{"model": "own"}'],
  ['a body with a model in a nested field only', '{"tool":{"model":1}}', '{"model":"m","tool":{"model":1}}'],
  ['a body that quotes the field name', '{"a":"\\"model\\":"}', '{"model":"m","a":"\\"model\\":"}'],
  ['a body that is not an object', '[1]', '[1]'],
])('%s', (_, given, expected) => {
  expect(insertModel(given, 'm')).toBe(expected)
})

test.each([
  ['a long body without a model', '{"a":"', '{"model":"m","a":"'],
  ['a long body with its own model', '{"model":"own","a":"', '{"model":"own","a":"'],
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
