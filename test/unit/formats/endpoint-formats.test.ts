import { expect, test } from 'vitest'
import { apiFormatOf } from '../../../src/formats/endpoint-formats.ts'

const { readExpectedOutput, completenessOf } = apiFormatOf('embeddings')
const floats = (...numbers: number[]) => Buffer.from(Float32Array.from(numbers).buffer).toString('base64')
const answer = (...vectors: unknown[]) => ({ data: vectors.map((embedding, index) => ({ index, embedding })) })
const PICTURES = [{ content: [{ type: 'image_url' }] }, { content: [{ type: 'image_url' }] }]

test.each([
  [{ input: 'a' }, answer([1, 2]), 'whole'],
  [{ input: 'a' }, answer(), 'not_a_response'],
  [{ input: [1, 2, 3] }, answer([1, 2]), 'whole'],
  [{ input: PICTURES }, answer([1, 2], [3, 4]), 'whole'],
  [{ input: PICTURES }, answer([1, 2]), 'too_few_results'],
  [{ input: PICTURES }, answer([1, 2], [3]), 'wrong_dimensions'],
  [{ input: PICTURES }, answer([1, 2], []), 'wrong_dimensions'],
  [{ input: 'a' }, answer(''), 'wrong_dimensions'],
  [{ input: 'a' }, { data: [{ index: 0 }] }, 'wrong_dimensions'],
  [{ input: 'a', dimensions: 2 }, answer([1, 2]), 'whole'],
  [{ input: 'a', dimensions: 8 }, answer([1, 2, 3]), 'wrong_dimensions'],
  [{ input: 'a', dimensions: 2, encoding_format: 'base64' }, answer(floats(1, 2)), 'whole'],
  [{ input: 'a', dimensions: 3, encoding_format: 'base64' }, answer(floats(1, 2)), 'wrong_dimensions'],
  // Each number packs eight dimensions, or the encoding is the provider's own.
  [{ input: 'a', dimensions: 16, encoding_format: 'ubinary' }, answer([1, 2]), 'whole'],
  [{ input: 'a', dimensions: 2 }, answer({ int8: [1, 2] }), 'whole'],
])('%j, and %j: %s', (request, given, completeness) => {
  expect(completenessOf(given, readExpectedOutput(request))).toBe(completeness)
})
