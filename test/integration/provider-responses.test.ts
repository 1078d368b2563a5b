/** Recorded responses of providers, and the results at each endpoint: the client's response, the cache, the record. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { draw } from '../harness/depth.ts'
import { type Expected, type ProviderCase, type Row, readCaseFiles, rowsOf } from '../harness/provider-cases/case.ts'
import { findDifferences } from '../harness/provider-cases/find-differences.ts'
import { type ProviderTable, type RowOutcomes, sendRows, startTable } from '../harness/provider-cases/send-rows.ts'
import { SIBLINGS } from '../harness/provider-cases/siblings.ts'

/** Expectations that the case files do not contain. */
const ALSO: Record<string, Expected> = {
  b11: { maxCost: 0 },
  b12b: { maxCost: 0 },
  d9c: { maxCost: 0 },
  n1: { maxCost: 0 },
  n1c: { maxCost: 0 },
  // 100,000 tokens written to the cache, and one read.
  g29: { minCost: 0.125001 },
  n12: { minCost: 1e-9 },
  n13: { minCost: 1e-9 },
  n14: { c: 100, minCost: 0.00006 },
}

const CASES: ProviderCase[] = [...readCaseFiles(), ...SIBLINGS]
const ROWS: Row[] = CASES.flatMap(rowsOf).map(row => ({ ...row, expected: { ...row.expected, ...ALSO[row.case.id] } }))

describeOnce('provider responses', backend => {
  let table: ProviderTable
  let sent: RowOutcomes[]
  const rows = draw(ROWS)

  beforeAll(async () => {
    table = await startTable(backend)
    sent = await sendRows(table, rows)
  })
  afterAll(() => table?.stop())

  test.each(rows.map((row, at) => ({ ...row, at })))('$case.id: $case.what; $endpoint, $mode', ({ at, expected }) => {
    const { first, second } = sent[at] as RowOutcomes
    const differences = findDifferences(first, second, expected).join('; ')
    expect(differences, differences).toBe('')
  })
})
