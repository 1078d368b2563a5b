import { expect, test } from 'vitest'
import { parseMigrationSteps, readDeployedFiles, readMigrations } from '../../../src/postgres/migration-files.ts'

const TEXT = `-- What it is for.
alter table a add column b text;
-- step: batches
with moved as (update a set b = '' where b is null returning 1) select count(*)::integer as moved from moved;
-- step: concurrently, because requests go on
create index concurrently a_b_idx on a (b);
`

test('splits a migration into steps; text before the first mark is locked', () => {
  const steps = parseMigrationSteps('000009_a.sql', TEXT)
  expect(steps.map(({ name, kind }) => [name, kind])).toEqual([
    ['000009_a.sql/0', 'locked'],
    ['000009_a.sql/1', 'batches'],
    ['000009_a.sql/2', 'concurrently'],
  ])
  expect(steps.map(({ text }) => text).join('')).toBe(TEXT)
})

test('comments alone are no step', () => {
  expect(parseMigrationSteps('000009_a.sql', '-- Functions changed.\n')).toEqual([])
  expect(
    parseMigrationSteps('000009_a.sql', `-- What it is for.\n${TEXT.slice(TEXT.indexOf('-- step: batches'))}`),
  ).toHaveLength(2)
})

test('orders the baseline first, then migrations numbered without a gap, then views after those that they read', async () => {
  const [first, ...later] = (await readMigrations()).map(({ name }) => name)
  expect(first).toBe('baseline')
  const numbers = later.map(name => Number(name.slice(0, 6)))
  expect(numbers).toEqual(numbers.map((_, index) => index + 1))
  const views = (await readDeployedFiles()).filter(({ folder }) => folder === 'views').map(({ name }) => name)
  expect(views.indexOf('views/effective_verdicts.sql')).toBeLessThan(views.indexOf('views/calibration.sql'))
})
