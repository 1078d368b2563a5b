import { expect, test } from 'vitest'

const LOG = new URL('../../../src/telemetry/log.ts', import.meta.url).pathname
const CODE = `
  const { createLog } = await import('${LOG}')
  const log = createLog('info')
  for (let i = 0; i < 5; i++) {
    log.info({}, 'a line')
    await log.flush()
  }
  process.stderr.write('goes on')
`

test('a reader that is gone ends nothing', async () => {
  const child = Bun.spawn([process.execPath, '-e', CODE], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  await child.stdout.cancel()
  expect(await new Response(child.stderr).text()).toBe('goes on')
  expect(await child.exited).toBe(0)
})
