import { describe, expect, test } from 'vitest'
import { recordedEndUserOf, shortenEndUser } from '../../../src/formats/end-user.ts'

describe('the end user of a request', () => {
  test.each([
    ['no end user', {}, null],
    ['an empty name', { user: '', metadata: { user_id: 'tagged' } }, 'tagged'],
    ['the first of three', { safety_identifier: 'safe', user: 'user', metadata: { user_id: 'tagged' } }, 'safe'],
    ['no text', { user: { id: 7 } }, '{"id":7}'],
  ])('is recorded: %s', (_, body, name) => {
    expect(recordedEndUserOf(body)).toBe(name)
  })
})

describe('the recorded form of an end user’s name', () => {
  test.each(['alice', 'a'.repeat(128), '🦊'.repeat(128), 'Zoë Łukasz 王小明', 'ends in an ellipsis…', '{"id":7}'])(
    'is the name itself: %j',
    name => {
      expect(shortenEndUser(name)).toBe(name)
    },
  )

  const shaped = shortenEndUser('x'.repeat(200))
  test.each([
    'a'.repeat(129),
    '🦊'.repeat(129),
    `a${'🦊'.repeat(129)}`,
    'two\nlines',
    'turned\u202e',
    'nul\0',
    '\ud800',
    shaped,
  ])('is its beginning and a hash: %j', name => {
    const recorded = shortenEndUser(name)
    expect(recorded).toMatch(/…[0-9a-f]{32}$/)
    expect(recorded).not.toBe(name)
    expect(Array.from(recorded).length).toBeLessThanOrEqual(128)
    expect(recorded.isWellFormed()).toBe(true)
    expect(recorded).not.toMatch(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/u)
  })

  test('differs between end users', () => {
    const alike = [
      ...['a', 'b', ''].map(end => 'x'.repeat(200) + end),
      ...['a', 'b'].map(end => 'x'.repeat(127) + end),
      ...[' ', '\n', '\0', '\t', '\u202e'].map(end => `two${end}`),
      ...['\ud800', '\udbff', '\ufffd', '\ud800\ud800'].map(end => `half ${end}`),
      shaped,
      shortenEndUser(shaped),
    ]
    expect(new Set(alike.map(shortenEndUser)).size).toBe(alike.length)
  })
})
