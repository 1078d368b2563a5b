import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chunkText, groupTokens } from '../../../../src/formats/chat/chunk-text.ts'

const characters = new Intl.Segmenter('und', { granularity: 'grapheme' })

describe('cutText', () => {
  test('returns a few non-empty pieces that join to the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3000 }), text => {
        const pieces = chunkText(text)
        expect(pieces.join('')).toBe(text)
        expect(pieces).not.toContain('')
        expect(pieces.length).toBeLessThanOrEqual(201)
      }),
    )
  })

  test('cuts before a space, so that each piece is some words', () => {
    const pieces = chunkText('The quick brown fox jumps over the lazy dog, and then it does so again and again.')
    expect(pieces.length).toBeGreaterThan(2)
    for (const piece of pieces.slice(1)) expect(piece).toMatch(/^ \S/)
  })

  test('never cuts inside a character, with spaces or without', () => {
    const part = fc.constantFrom('👩‍👩‍👧‍👦', '🇳🇴', 'é', 'ส้', '한', '\r\n', ' ', '👍🏽', 'x')
    fc.assert(
      fc.property(fc.array(part, { minLength: 10, maxLength: 300 }), parts => {
        const text = parts.join('')
        const boundaries = new Set([...characters.segment(text)].map(segment => segment.index))
        let at = 0
        for (const piece of chunkText(text)) {
          expect(boundaries).toContain(at)
          at += piece.length
        }
      }),
    )
  })

  test('bounds the pieces of a long text, with spaces or without', () => {
    expect(chunkText('word '.repeat(100_000)).length).toBeLessThanOrEqual(200)
    expect(chunkText('x'.repeat(1_000_000)).length).toBeLessThanOrEqual(200)
    expect(chunkText('')).toEqual([])
    expect(chunkText('short')).toEqual(['short'])
  })
})

describe('groupTokens', () => {
  test('puts each of a few tokens into its own group', () => {
    expect(groupTokens(['a', 'b'])).toEqual([
      { start: 0, end: 1 },
      { start: 1, end: 2 },
    ])
    expect(groupTokens([])).toEqual([])
  })

  test('groups many tokens, and keeps surrogate pairs together', () => {
    expect(groupTokens(Array.from({ length: 1000 }, () => 't')).length).toBe(200)
    expect(groupTokens(['a', '\ud83d', '\ude00', 'b'])).toEqual([
      { start: 0, end: 1 },
      { start: 1, end: 3 },
      { start: 3, end: 4 },
    ])
  })
})
