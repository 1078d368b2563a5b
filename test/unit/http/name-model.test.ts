import { expect, test } from 'vitest'
import { nameModel } from '../../../src/http/name-model.ts'

test.each([
  ['a body that names none', '{"seed": 12345678901234567890}', '{"model":"m","seed": 12345678901234567890}'],
  ['an empty one', ' { }', ' {"model":"m" }'],
  ['one that names its own', '{"model": "own"}', '{"model": "own"}'],
  ['one that names none but further in', '{"tool":{"model":1}}', '{"model":"m","tool":{"model":1}}'],
  ['one that quotes the word', '{"a":"\\"model\\":"}', '{"model":"m","a":"\\"model\\":"}'],
  ['what is no object', '[1]', '[1]'],
])('%s', (_, given, expected) => {
  expect(nameModel(given, 'm')).toBe(expected)
})
