import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createBuiltinEmbedder } from '../../../../src/cache/embedders/builtin-embedder.ts'

const embedder = createBuiltinEmbedder()

async function cosine(one: string, other: string): Promise<number> {
  const [a, b] = [await embedder.embed(one), await embedder.embed(other)]
  return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)
}

test('names its vector space', () => {
  expect(embedder.space).toEqual({ model: 'builtin-lexical-4', dimensions: 512 })
})

describe('scores equal questions in other words above 0.95', () => {
  test.each([
    ['how to reset my password in gmail', 'how to reset my gmail password'],
    ['how to reset my password', 'how to reset my passwords'],
    ['what is the capital of france', 'which is the capital of france'],
    ['what is the hardest job in the world', 'what are the hardest jobs in the world'],
    ['what is the difference between boxing and wrestling', 'what is difference between boxing and wrestling'],
    ['which sport is best for analytics', 'which is the best sport for analytics'],
    ['why do volcanoes erupt', 'why does a volcano erupt'],
    ['what happens when wood is burned', 'what happens when wood burns'],
    ['东京的人口是多少', '东京的人口是多少?'],
  ])('%j, %j', async (one, other) => {
    expect(await cosine(one, other)).toBeGreaterThan(0.95)
  })
})

describe('scores other questions below 0.95', () => {
  test.each([
    ['what is the capital of france', 'what is the capital of germany'],
    ['how to cancel my subscription', 'how to renew my subscription'],
    ['is tea bad for teeth', 'is coffee bad for teeth'],
    ['where is parcel wt-44219', 'where is parcel wt-44291'],
    ['what is 15% of 240', 'what is 16% of 240'],
    ['how to learn c', 'how to learn c++'],
    ['东京的人口是多少', '大阪的人口是多少'],
    ['', 'what is the capital of france'],
  ])('%j, %j', async (one, other) => {
    expect(await cosine(one, other)).toBeLessThan(0.95)
  })
})

test('a misspelled word stays similar to the correct one', async () => {
  expect(await cosine('accommodation', 'accomodation')).toBeGreaterThan(0.75)
  expect(await cosine('accommodation', 'accumulation')).toBeLessThan(0.4)
})

test('the same text has the same vector in any process', async () => {
  const vector = await embedder.embed('what is the capital of france')
  expect(vector).toEqual(await createBuiltinEmbedder().embed('what is the capital of france'))
  // Stored vectors outlive the process. If this fingerprint changes, the model needs another name.
  expect(fingerprint(vector)).toBe('-200 -134')
})

test('any text has a unit vector of 512 numbers', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.constant(''), fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' })),
      async text => {
        const vector = await embedder.embed(text)
        expect(vector).toHaveLength(512)
        expect(Math.hypot(...vector)).toBeCloseTo(1, 4)
      },
    ),
  )
})

test('the empty text has its own vector', async () => {
  expect(await cosine('', '')).toBeCloseTo(1, 6)
  expect(await cosine('', ' \n')).toBeCloseTo(1, 6)
})

// Quadratic work on this many characters would exceed the test's time limit.
test.each(['a', 'ab ', '不', '!', '1', "'"])('embeds a long text that repeats %j in linear time', async unit => {
  expect(await cosine(unit.repeat(300_000 / unit.length), unit)).not.toBeNaN()
})

/** The indexes of the two largest components, with their signs. */
function fingerprint(vector: Float32Array): string {
  return [...vector]
    .map((value, at) => ({ value, at }))
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
    .slice(0, 2)
    .map(({ value, at }) => `${value < 0 ? '-' : '+'}${at}`)
    .join(' ')
}
