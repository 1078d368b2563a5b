import { expect, test } from 'vitest'
import { compareSchemas, isCausedByDistribution } from '../../../src/postgres/check-schema.ts'
import { parseSchema } from '../../../src/postgres/describe-schema.ts'
import { readSqlFile } from '../../../src/postgres/migration-files.ts'

test('a grant on columns may include foreign columns, but no other column of the proxy', async () => {
  const needed = parseSchema(await readSqlFile('schema.txt'))
  const isGrant = (each: { object: string; item: string }) =>
    each.object === 'table cache_entries' && each.item === 'grant SELECT'
  const differencesWith = (change: (columns: string) => string) =>
    compareSchemas(
      needed,
      needed.map(each => (isGrant(each) ? { ...each, definition: change(each.definition) } : each)),
    )
  expect(needed.filter(isGrant)).toHaveLength(1)
  expect(differencesWith(columns => `${columns}, added_by_an_operator`)).toEqual([])
  expect(differencesWith(columns => `${columns}, response`)).toHaveLength(1)
  expect(differencesWith(columns => columns.replace('id, ', ''))).toHaveLength(1)
})

test('only a distributed table may lack its foreign keys and policies, and nothing else', async () => {
  const needed = parseSchema(await readSqlFile('schema.txt'))
  const isLost = (object: string) =>
    needed.filter(each => each.object === object && /^(FOREIGN KEY|FOR SELECT)/.test(each.definition))
  const lost = ['table cached_vectors', 'table api_keys'].flatMap(isLost)
  const column = needed
    .filter(each => each.object === 'table cached_vectors' && each.item.startsWith('column '))
    .slice(0, 1)
  const live = needed.filter(each => !lost.includes(each) && !column.includes(each))
  const differences = compareSchemas(needed, live).filter(each => !isCausedByDistribution(each, ['cached_vectors']))
  const expected = [...isLost('table api_keys'), ...column].map(({ object, item }) => ({ object, item }))
  expect(isLost('table cached_vectors').length).toBeGreaterThan(1)
  expect(differences.map(({ object, item }) => ({ object, item }))).toEqual(expect.arrayContaining(expected))
  expect(differences).toHaveLength(expected.length)
})
