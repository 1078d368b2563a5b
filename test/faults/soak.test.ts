/** Random faults over four proxies, a PostgreSQL and a Redis Cluster: SOAK_SECONDS says for how long, SOAK_SEED which ones. */
import { expect, test } from 'vitest'
import { endAfterFile } from '../harness/left-processes.ts'
import { describeFaults } from './describe-faults.ts'
import { tieToTests } from './servers.ts'

const seconds = Number(process.env.SOAK_SECONDS ?? 45)
const seed = process.env.SOAK_SEED ?? '24'
/** For its start, and for what is pending at its end. */
const AROUND_MS = 120_000
/** A short one has as many outages as a long one has in four times its length. */
const length = seconds < 300 ? '0.25' : '1'

describeFaults('random faults', () => {
  test(
    'what is answered is counted and recorded, and only outages cause errors',
    async () => {
      const minutes = String(seconds / 60)
      const command = ['bun', 'scripts/soak.ts', '--minutes', minutes, '--seed', seed, '--length', length]
      const soak = Bun.spawn(tieToTests(command), { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
      endAfterFile(soak)
      const told = await new Response(soak.stdout).text()
      expect(told.split('\n').filter(line => line.startsWith('FAULT'))).toEqual([])
      expect([await soak.exited, told]).toEqual([0, expect.stringContaining('1. ')])
    },
    seconds * 1_000 + AROUND_MS,
  )
})
