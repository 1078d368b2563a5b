import { expect, test } from 'vitest'
import { createParsedBodyCache } from '../../../src/pipeline/context/read-request.ts'
import { parseRequest } from '../../../src/pipeline/request/parse-request.ts'

const bodyOf = (content: string) => JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] })
const TEXT = bodyOf('Hello')
const parse = (text: string, headers = new Headers()) => parseRequest({ endpoint: 'chat', headers }, text)

test('finds a parsed body by the same text at the same endpoint only', () => {
  const bodies = createParsedBodyCache()
  const query = parse(TEXT)
  bodies.store(query)
  const { headers, control, ...parsed } = query
  expect(bodies.find('chat', TEXT)).toEqual(parsed)
  expect(bodies.find('messages', TEXT)).toBe(undefined)
  expect(bodies.find('chat', `${TEXT} `)).toBe(undefined)
})

test('keeps nothing of the request of a body, and is immutable', () => {
  const bodies = createParsedBodyCache()
  bodies.store(parse(TEXT, new Headers({ 'cache-control': 'no-store' })))
  const found = bodies.find('chat', TEXT)
  expect(found).not.toHaveProperty('headers')
  expect(found).not.toHaveProperty('control')
  const messages = found?.body.messages
  expect(() => Array.isArray(messages) && Object.assign(messages[0], { content: 'Bye' })).toThrow(TypeError)
})

test('keeps a body of any depth, but no long one', () => {
  const bodies = createParsedBodyCache()
  const deep = `{"model":"m","messages":[{"role":"user"}],"metadata":${'['.repeat(8_000)}${']'.repeat(8_000)}}`
  bodies.store(parse(deep))
  expect(bodies.find('chat', deep)).toBeDefined()
  const long = bodyOf('a'.repeat(20_000))
  bodies.store(parse(long))
  expect(bodies.find('chat', long)).toBe(undefined)
})
