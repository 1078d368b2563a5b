import { describe, expect, test } from 'vitest'
import { ProxyError } from '../../../../src/errors/errors.ts'
import { countTextTokens } from '../../../../src/formats/tokens/count-tokens.ts'
import { createEmbeddings } from '../../../../src/providers/sandbox/embeddings.ts'

interface Embeddings<Vector> {
  object: string
  model: string
  data: { object: string; index: number; embedding: Vector }[]
  usage: { prompt_tokens: number; total_tokens: number }
}

const MODEL = 'text-embedding-3-small'
const embed = <Vector = number[]>(request: object) =>
  createEmbeddings({
    model: MODEL,
    input: 'The cat sat on the mat',
    ...request,
  }) as unknown as Embeddings<Vector>
const vectorsOf = (request: object) => embed(request).data.map(item => item.embedding)
const dot = (one: number[] = [], other: number[] = []) =>
  one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0)

function paramOf(request: object): string | null {
  try {
    embed(request)
  } catch (error) {
    if (error instanceof ProxyError && error.status === 400) return error.param
    throw error
  }
  throw new Error('The request was not rejected')
}

test('an embedding is a unit vector of the model, the same every time', () => {
  const answer = embed({})
  const [item] = answer.data
  expect(answer).toMatchObject({ object: 'list', model: MODEL, data: [{ object: 'embedding', index: 0 }] })
  expect(item?.embedding).toHaveLength(1536)
  expect(dot(item?.embedding, item?.embedding)).toBeCloseTo(1, 5)
  expect(embed({})).toEqual(answer)
  const tokens = countTextTokens('The cat sat on the mat', MODEL)
  expect(answer.usage).toEqual({ prompt_tokens: tokens, total_tokens: tokens })
})

test.each([1, 2, 256, 3072])('returns %d dimensions', dimensions => {
  const [vector] = vectorsOf({ dimensions })
  expect(vector).toHaveLength(dimensions)
  expect(dot(vector, vector)).toBeCloseTo(1, 5)
})

test('the large model has its own default', () => {
  expect(vectorsOf({ model: 'openai/text-embedding-3-large' })[0]).toHaveLength(3072)
})

test('base64 contains the same numbers', () => {
  const [item] = embed<string>({ encoding_format: 'base64' }).data
  const bytes = Buffer.from(item?.embedding ?? '', 'base64')
  const decoded = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4))
  expect(decoded).toEqual(vectorsOf({ encoding_format: 'float' })[0])
})

describe('inputs', () => {
  test('of every form, in order', () => {
    expect(embed({ input: ['a', 'b', 'a'] }).data.map(item => item.index)).toEqual([0, 1, 2])
    const [first, second, third] = vectorsOf({ input: ['a', 'b', 'a'] })
    expect(third).toEqual(first)
    expect(second).not.toEqual(first)
    expect(vectorsOf({ input: [1, 2, 3] })).toHaveLength(1)
    expect(vectorsOf({ input: [[1, 2], [3]] })).toHaveLength(2)
    expect(embed({ input: [[1, 2], [3]] }).usage.prompt_tokens).toBe(3)
  })

  test('that share words are nearer than those that do not', () => {
    const [one, close, far] = vectorsOf({
      input: ['The cat sat on the mat', 'A cat sat on a mat', 'Quarterly revenue grew'],
    })
    expect(dot(one, close)).toBeGreaterThan(0.4)
    expect(Math.abs(dot(one, far))).toBeLessThan(0.2)
  })

  test('of the same words in another order differ', () => {
    const [one, other] = vectorsOf({ input: ['dog bites man', 'man bites dog'] })
    expect(dot(one, other)).toBeLessThan(0.999)
  })

  test('as many as the upstream accepts', () => {
    expect(
      embed({ input: Array.from({ length: 2_048 }, (_, index) => `text ${index}`), dimensions: 64 }).data,
    ).toHaveLength(2_048)
  })
})

test.each<[string, object]>([
  ['input', { input: undefined }],
  ['input', { input: null }],
  ['input', { input: '' }],
  ['input', { input: ['a', ''] }],
  ['input', { input: [] }],
  ['input', { input: [[]] }],
  ['input', { input: { text: 'a' } }],
  ['input', { input: ['a', 1] }],
  ['input', { input: 'word '.repeat(10_000) }],
  ['input', { input: Array.from({ length: 8_193 }, () => 1) }],
  ['input', { input: Array.from({ length: 2_049 }, () => 'a') }],
  ['input', { input: Array.from({ length: 60 }, () => 'word '.repeat(6_000)) }],
  ['dimensions', { dimensions: 0 }],
  ['dimensions', { dimensions: 1.5 }],
  ['dimensions', { dimensions: 4_000 }],
  ['encoding_format', { encoding_format: 'hex' }],
  ['model', { model: 3 }],
])('rejects a bad %s by name: %#', (param, change) => {
  expect(paramOf(change)).toBe(param)
})
