import { expect, test } from 'vitest'
import { readQuery } from '../../../src/admin/query-string.ts'

const shape = { lists: ['models'], numbers: ['limit', 'effective_at'], flags: ['batch'] }
const read = (query: string) => readQuery(`http://localhost/path${query}`, shape)

test('parses lists, objects, numbers and flags as OpenAI’s clients write them', () => {
  expect(read('?models[]=a&models[]=b&limit=5&batch=true&effective_at[gte]=10&effective_at[lt]=20')).toEqual({
    models: ['a', 'b'],
    limit: 5,
    batch: true,
    effective_at: { gte: 10, lt: 20 },
  })
  expect(read('?models=a&models=b')).toEqual({ models: ['a', 'b'] })
  expect(read('?models=only')).toEqual({ models: ['only'] })
})

test('keeps what is neither a number nor a flag as text, for validation to reject', () => {
  expect(read('?limit=five&batch=yes&after=12')).toEqual({ limit: 'five', batch: 'yes', after: '12' })
  expect(read('?limit=99999999999999999999')).toEqual({ limit: '99999999999999999999' })
})

test('decodes escapes, keeps unusual names, and returns nothing for an empty query', () => {
  expect(read('?model=a%2Fb%20c')).toEqual({ model: 'a/b c' })
  expect(read('?a-b=1&x[y][z]=2')).toEqual({ 'a-b': '1', 'x[y][z]': '2' })
  expect(read('')).toEqual({})
  expect(read('?__proto__[polluted]=1')).not.toHaveProperty('polluted')
  expect({}).not.toHaveProperty('polluted')
})
