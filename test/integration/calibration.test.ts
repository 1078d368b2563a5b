import { expect, test } from 'vitest'
import { describeBackends } from '../harness/backends.ts'
import { createTestProject } from '../harness/cached-responses.ts'

interface Row {
  difference: string
  threshold: number
  served: number
  hit_ratio: number
  precision: number
  low: number
  high: number
}

describeBackends('calibration', backend => {
  test('reports how many pairs each threshold serves, and how many rightly', async () => {
    const { database } = await backend.open()
    const [project, other] = [await createTestProject(database, 'acme'), await createTestProject(database, 'other')]
    const store = (owner: number, pair: number, verdict: string, source: string, similarity: number, kind: string) =>
      database.runScript(`select store_verdict(${owner}, sha256('c'), sha256('a${pair}'), sha256('b${pair}'),
        '${source}', '${verdict}', now() + interval '1 hour', ${similarity}, '${kind}', null)`)
    // At similarity 0.9 eight of ten pairs ask the same, at 0.6 two of ten. A person decides otherwise about one of the eight.
    for (let pair = 0; pair < 20; pair++) {
      const isNear = pair < 10
      const isSame = isNear ? pair < 8 : pair < 12
      await store(
        project,
        pair,
        isSame ? 'same' : 'different',
        'judge',
        isNear ? 0.9 : 0.6,
        isNear ? 'words' : 'number',
      )
    }
    await store(project, 0, 'different', 'person', 0.9, 'words')
    await store(other, 0, 'different', 'judge', 0.9, 'words')

    const rows = await database.call<Row>(
      `select difference, threshold, served, hit_ratio, precision, precision_low as low, precision_high as high
      from calibration where project = 'acme' and threshold in (0.5, 0.8, 0.95) order by difference, threshold`,
      [],
    )
    expect(rows.map(row => [row.difference, row.threshold, Number(row.served), row.hit_ratio, row.precision])).toEqual([
      ['all', 0.5, 20, 1, 9 / 20],
      ['all', 0.8, 10, 0.5, 7 / 10],
      ['number', 0.5, 10, 1, 2 / 10],
      ['words', 0.5, 10, 1, 7 / 10],
      ['words', 0.8, 10, 1, 7 / 10],
    ])
    // Wilson's interval for 7 of 10.
    expect(rows[1]).toMatchObject({ low: expect.closeTo(0.3968, 3), high: expect.closeTo(0.8922, 3) })
  })
})
