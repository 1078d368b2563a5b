import { describe, expect, test } from 'vitest'
import { type DifferenceKind, findDifferences, mainDifferenceKind } from '../../../../src/cache/verify/difference.ts'

describe('reports the kind and the position of the first difference', () => {
  test.each<[DifferenceKind, string, string, number]>([
    ['number', 'Is 15 even?', 'Is 16 even?', 3],
    ['negation', 'Is it safe?', 'Is it not safe?', 11],
    ['modality', 'Can we park here?', 'May we park here?', 0],
    ['person', 'Is it my house?', 'Is it your house?', 6],
    ['letter-case', 'What is ACID?', 'What is acid?', 8],
    ['quotation', 'Who said "yes"?', 'Who said "no"?', 9],
    ['sign', 'Is a + b hard?', 'Is a - b hard?', 5],
    ['added-words', 'How do I cook rice?', 'How do I cook brown rice?', 19],
    ['words', 'Is tea healthy?', 'Is milk healthy?', 3],
  ])('%s: %j, %j', (kind, asked, cached, at) => {
    expect(mainDifferenceKind(asked, cached)).toBe(kind)
    expect(findDifferences(asked, cached)[0]?.askedAt).toBe(at)
  })
})

test('reports all differences, with both sides', () => {
  expect(findDifferences('How do I cook brown rice?', 'How can I cook rice')).toMatchObject([
    { askedText: 'do', cachedText: 'can', kind: 'modality' },
    { askedText: 'brown', cachedText: '', kind: 'added-words' },
    { askedText: '?', cachedText: '', kind: 'sign' },
  ])
})

test('letter case and a missing mark are found as such, however many words they concern', () => {
  const kinds = (asked: string, cached: string) => findDifferences(asked, cached).map(({ kind }) => kind)
  expect(kinds('HOW DO I RESET MY PASSWORD', 'How do I reset my password?')).toEqual([
    'letter-case',
    'letter-case',
    'sign',
  ])
  expect(kinds('how do i reset my password?', 'How do I reset my password?')).toEqual(['letter-case', 'letter-case'])
  expect(kinds('HOW DO YOU RESET MY PASSWORD?', 'How do I reset my password?')).toContain('person')
})

test('marks where two long texts differ', () => {
  const long = 'word '.repeat(400)
  expect(findDifferences(`${long}a`, `${long}b`)).toMatchObject([{ kind: 'verbatim', askedText: 'a', askedAt: 2_000 }])
})
