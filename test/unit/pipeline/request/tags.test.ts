import { expect, test } from 'vitest'
import { readTags } from '../../../../src/pipeline/request/tags.ts'

function read(header: string | null, metadata?: unknown, endpoint: 'chat' | 'messages' = 'chat') {
  const body = metadata === undefined ? {} : { metadata }
  return readTags(new Headers(header === null ? {} : { 'x-proxy-tags': header }), { body, endpoint })
}

test('tags are a JSON object with sorted names', () => {
  expect(read('team=search, env=prod')).toBe('{"env":"prod","team":"search"}')
  expect(read('at=https://a.example/x, note=two words')).toBe('{"at":"https://a.example/x","note":"two words"}')
})

test('without header and metadata there are no tags', () => {
  for (const metadata of [undefined, null, {}, [], 'team=search', 5]) expect(read(null, metadata)).toBe(null)
  expect(read('')).toBe(null)
})

test.each([
  ['no value', 'team'],
  ['an empty value', 'team='],
  ['an empty name', '=search'],
  ['a name that begins with a digit', '1team=x'],
  ['a name of 33 characters', `${'n'.repeat(33)}=x`],
  ['a value of 65 characters', `n=${'v'.repeat(65)}`],
  ['a quote', 'team="search"'],
  ['the same name twice', 'team=a, team=b'],
  ['nine tags', Array.from({ length: 9 }, (_, n) => `n${n}=x`).join()],
])('rejects a header with %s with a 400 that names it', (_, header) => {
  expect(() => read(header)).toThrow(expect.objectContaining({ status: 400, param: 'X-Proxy-Tags' }))
})

test('reads metadata as far as it is names and values, up to the limit after the header', () => {
  expect(read(null, { team: 'search', n: 1, note: 'a\nb', 'a b': 'x', long: 'v'.repeat(65) })).toBe('{"team":"search"}')
  expect(read('team=ads', { team: 'search', env: 'prod' })).toBe('{"env":"prod","team":"ads"}')
  const eight = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`n${n + 10}`, 'x']))
  expect(Object.keys(JSON.parse(read('team=ads', eight) ?? ''))).toHaveLength(8)
  expect(read(null, Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`n${n}`, 'x'])))).toBe(null)
})

test('Anthropic’s metadata names an end user and is no tag', () => {
  expect(read(null, { user_id: 'somebody' }, 'messages')).toBe(null)
  expect(read('team=ads', { user_id: 'somebody' }, 'messages')).toBe('{"team":"ads"}')
})
