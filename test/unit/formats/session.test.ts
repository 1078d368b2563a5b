import { describe, expect, test } from 'vitest'
import { sessionOf } from '../../../src/formats/session.ts'

const read = (body: Record<string, unknown>, headers: Record<string, string> = {}, caller = '1') =>
  sessionOf(new Headers(headers), body, caller)
const user = (content: unknown) => ({ role: 'user', content })
const assistant = { role: 'assistant', content: 'Hi' }

describe('the session of a request', () => {
  test.each<[title: string, headers: Record<string, string>, body: Record<string, unknown>, session: string | null]>([
    ['Claude Code’s header', { 'X-Claude-Code-Session-Id': 'a', 'X-Session-Id': 'b' }, { prompt_cache_key: 'c' }, 'a'],
    ['Codex’s header', { 'Session-Id': 'a' }, { prompt_cache_key: 'c' }, 'a'],
    ['Codex’s older header', { session_id: 'a' }, { prompt_cache_key: 'c' }, 'a'],
    ['the common header', { 'X-Session-Id': 'b' }, { metadata: { session_id: 'c' } }, 'b'],
    ['OpenCode’s header', { 'X-Session-Affinity': 'b' }, {}, 'b'],
    ['an empty header', { 'X-Session-Id': '' }, { metadata: { session_id: 'c' } }, 'c'],
    ['metadata.session_id', {}, { metadata: { session_id: 'c' }, prompt_cache_key: 'd' }, 'c'],
    ['Claude Code’s user id', {}, { metadata: { user_id: '{"device_id":"x","session_id":"e"}' } }, 'e'],
    ['its older user id', {}, { metadata: { user_id: `user_ab_account__session_${'f'.repeat(36)}` } }, 'f'.repeat(36)],
    [
      'no user id longer than Claude Code’s',
      {},
      { metadata: { user_id: `{"session_id":"e","x":"${'x'.repeat(1_024)}"}` } },
      null,
    ],
    ['prompt_cache_key', {}, { prompt_cache_key: 'd', metadata: { user_id: 'somebody' } }, 'd'],
    ['names of other types', {}, { prompt_cache_key: 7, metadata: { session_id: {}, user_id: '{' } }, null],
    ['a question of its own', {}, { messages: [user('Hello')] }, null],
    ['an embedding', {}, { input: ['Hello'], tools: [{}] }, null],
  ])('is named by %s', (_, headers, body, session) => {
    expect(read(body, headers)).toBe(session)
  })

  test('a long name is recorded as an end user’s', () => {
    expect(read({ prompt_cache_key: 'x'.repeat(200) })).toMatch(/^x{95}…[0-9a-f]{32}$/)
  })
})

describe('without a name, the beginning of the conversation', () => {
  const tools = [{ type: 'function' }]
  const first = { system: 'Be brief.', tools, messages: [user('Fix the tests')] }

  test('is the same in every turn, whatever the form of the texts', () => {
    const opening = read(first)
    expect(opening).toMatch(/^opening-[0-9a-f]{24}$/)
    expect(opening).not.toContain('tests')
    const later = [...first.messages, assistant, user('And the docs')]
    const parts = [user([{ type: 'text', text: 'Fix the tests' }])]
    const system = [{ type: 'text', text: 'Be brief.' }]
    expect(read({ ...first, messages: later })).toBe(opening)
    expect(read({ ...first, system, messages: parts })).toBe(opening)
    expect(read({ messages: later, system: 'Be brief.' })).toBe(opening)
  })

  test('is read from the first messages and parts only, however long the body is', () => {
    const [system, part] = [
      { role: 'system', content: 'Be brief.' },
      { type: 'text', text: 'Fix' },
    ]
    const long = Array(100).fill(system)
    expect(read({ tools, messages: [...long.slice(1), user('Fix the tests')] })).not.toBeNull()
    expect(read({ tools, messages: [...long, user('Fix the tests')] })).toBeNull()
    const parts = Array(100).fill(part)
    expect(read({ tools, messages: [user([...parts, { type: 'text', text: 'the docs' }])] })).toBe(
      read({ tools, messages: [user(parts)] }),
    )
  })

  test('of the Responses API has instructions and a text or items', () => {
    const opening = read({ tools, instructions: 'Be brief.', input: 'Fix the tests' })
    expect(opening).not.toBeNull()
    expect(read({ instructions: 'Be brief.', input: [user('Fix the tests'), assistant] })).toBe(opening)
  })

  test('differs between questions, instructions and callers', () => {
    const all = [
      read(first),
      read({ ...first, messages: [user('Fix the docs')] }),
      read({ ...first, system: 'Be long.' }),
      read({ ...first, system: undefined, messages: [{ role: 'system', content: 'Be kind.' }, ...first.messages] }),
      read(first, {}, '2'),
    ]
    expect(new Set(all).size).toBe(all.length)
  })
})
