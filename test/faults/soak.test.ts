/** Random faults on four proxies, a PostgreSQL and a Redis Cluster. SOAK_SECONDS sets the duration, SOAK_SEED the faults. */
import { expect, test } from 'vitest'
import { endAfterFile } from '../harness/child-processes.ts'
import { describeFaults } from './describe-faults.ts'
import { killWithTests } from './servers.ts'

const seconds = Number(process.env.SOAK_SECONDS ?? 45)
const seed = process.env.SOAK_SEED ?? '24'
/** The time for the start and for pending work at the end. */
const AROUND_MS = 120_000
/** Shorter outages, so that a short run has as many as a run of four times its length. */
const length = seconds < 300 ? '0.25' : '1'

describeFaults('random faults', () => {
  test(
    'every response is counted and recorded, and only outages cause errors',
    async () => {
      const minutes = String(seconds / 60)
      const command = ['bun', 'scripts/soak.ts', '--minutes', minutes, '--seed', seed, '--length', length]
      const soak = Bun.spawn(killWithTests(command), { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
      endAfterFile(soak)
      const output = await new Response(soak.stdout).text()
      expect(output.split('\n').filter(line => line.startsWith('FAULT'))).toEqual([])
      expect([await soak.exited, output]).toEqual([0, expect.stringContaining('1. ')])
    },
    seconds * 1_000 + AROUND_MS,
  )
})
