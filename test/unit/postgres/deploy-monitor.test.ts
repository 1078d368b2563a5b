import { expect, test } from 'vitest'
import type { Database } from '../../../src/postgres/database.ts'
import { createDeployMonitor } from '../../../src/postgres/deploy-monitor.ts'
import { passMs, useTestClock } from '../../harness/test-clock.ts'

useTestClock()

/** A fake database that answers each query when the test decides. */
function createBusyDatabase() {
  const asked: ((isOn: boolean) => void)[] = []
  const call = () => new Promise(resolve => asked.push(isOn => resolve([{ result: isOn }])))
  return { database: { call } as unknown as Database, asked }
}

test('waits for a notification that was requested before, however slow the database is', async () => {
  const { database, asked } = createBusyDatabase()
  const deploys = createDeployMonitor(database)
  const startedAtMs = performance.now()
  await passMs(1)
  deploys.startCheck()
  asked[0]?.(true)
  await passMs(60)
  expect(await deploys.isDeploying(startedAtMs)).toBe(true)
  // The monitor sent no second query.
  expect(asked).toHaveLength(1)
})

test('a notification received before a request says nothing about it', async () => {
  const { database, asked } = createBusyDatabase()
  const deploys = createDeployMonitor(database)
  deploys.startCheck()
  asked[0]?.(true)
  await passMs(60)
  const later = deploys.isDeploying(performance.now())
  asked[1]?.(false)
  expect(await later).toBe(false)
})

test('treats a database that does not respond as not being deployed to', async () => {
  const { database } = createBusyDatabase()
  const asked = createDeployMonitor(database).isDeploying(performance.now())
  await passMs(100)
  expect(await asked).toBe(false)
})
