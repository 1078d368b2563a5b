import { expect, test } from 'vitest'
import { parseBody, withHeaders } from '../../../src/pipeline/parse-request.ts'
import { createParsedBodies } from '../../../src/pipeline/parsed-bodies.ts'

const bodyOf = (content: string) => JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] })
const TEXT = bodyOf('Hello')

test('a body is found as it was parsed, by the same text at the same endpoint alone', () => {
  const bodies = createParsedBodies()
  const parsed = parseBody('chat', TEXT)
  bodies.keep(parsed)
  expect(bodies.find('chat', TEXT)).toEqual(parsed)
  expect(bodies.find('messages', TEXT)).toBe(undefined)
  expect(bodies.find('chat', `${TEXT} `)).toBe(undefined)
})

test('nothing of the request that brought it stays, and nobody can change it', () => {
  const bodies = createParsedBodies()
  bodies.keep(withHeaders(parseBody('chat', TEXT), new Headers({ 'cache-control': 'no-store' })))
  const found = bodies.find('chat', TEXT)
  expect(found).not.toHaveProperty('headers')
  expect(found).not.toHaveProperty('control')
  const messages = found?.body.messages
  expect(() => Array.isArray(messages) && Object.assign(messages[0], { content: 'Bye' })).toThrow(TypeError)
})

test('a body of any depth is kept, and a long one is not', () => {
  const bodies = createParsedBodies()
  const deep = `{"model":"m","messages":[{"role":"user"}],"metadata":${'['.repeat(8_000)}${']'.repeat(8_000)}}`
  bodies.keep(parseBody('chat', deep))
  expect(bodies.find('chat', deep)).toBeDefined()
  const long = bodyOf('a'.repeat(20_000))
  bodies.keep(parseBody('chat', long))
  expect(bodies.find('chat', long)).toBe(undefined)
})
