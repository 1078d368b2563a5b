import { afterEach, expect, test, vi } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import type { Database } from '../../src/postgres/database.ts'
import { createStartupMessage, printDashboardLogin, printStartupMessage } from '../../src/process/startup-message.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { describeEmbedded } from '../harness/backends.ts'
import { ask } from '../harness/client.ts'
import { startProxy } from '../harness/proxy.ts'

afterEach(() => vi.restoreAllMocks())

/** Fails each statement once, like a file of the embedded database that cannot be opened. */
function failOnce(database: Database): { database: Database; failed: Set<string> } {
  const failed = new Set<string>()
  return {
    failed,
    database: {
      ...database,
      async call(text, values) {
        if (failed.has(text)) return database.call(text, values)
        failed.add(text)
        throw new Error('could not open file "base/5/16797": No file descriptors available')
      },
    },
  }
}

describeEmbedded('the start message of a proxy', backend => {
  test('waits for its database, and shows its key and its login once they are created', async () => {
    const stores = await backend.open()
    const { database, failed } = failOnce(stores.database)
    const print = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const warn = vi.fn()
    const log = Object.assign(createLog('silent'), { warn })
    const baseUrl = 'http://127.0.0.1:3000/v1'
    printStartupMessage(await createStartupMessage(readConfig({}), database, log), baseUrl)
    await printDashboardLogin(readConfig({}), database, baseUrl, log)
    const printed = print.mock.calls.map(([text]) => String(text)).join('')
    vi.restoreAllMocks()
    expect(failed.size).toBeGreaterThanOrEqual(3)
    expect(warn).toHaveBeenCalledTimes(failed.size)
    expect(JSON.stringify(warn.mock.calls)).not.toContain('base/5')
    expect(printed).toMatch(/log in as admin@localhost with \S{20}/)
    const [key = ''] = /lgw_test_\w+/.exec(printed) ?? []
    const proxy = await startProxy({ stores })
    const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }
    expect((await ask(proxy, key, body)).status).toBe(200)
    await proxy.stop()
  })

  test('reports the limits of the test key, and the command that raises them', async () => {
    const stores = await backend.open()
    const { lines, testKey } = await createStartupMessage(readConfig({}), stores.database, createLog('silent'))
    const line = lines.find(each => each.includes('per minute')) ?? ''
    const [, perMinute, perMonth] = /may send (\d+) requests per minute and (\d+) per month;/.exec(line) ?? []
    expect([perMinute, perMonth]).toEqual(['20', '1000'])
    const proxy = await startProxy({ stores })
    const key = testKey ?? ''
    const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }
    const limits = async () => {
      const { headers } = await ask(proxy, key, body)
      return headers.get('x-ratelimit-limit-requests')
    }
    expect(await limits()).toBe(perMinute)
    const [, statement = ''] = / -c "([^"]+)"$/.exec(line) ?? []
    await stores.database.runScript(statement)
    expect(await limits()).toBe('200')
    await proxy.stop()
  })

  test('names the provider keys of the environment, but no key', async () => {
    const { database } = await backend.open()
    const environment = { OPENAI_API_KEY: 'sk-of-the-shell', NOTES_API_KEY: 'of-another-program' }
    const { lines } = await createStartupMessage(readConfig(environment), database, createLog('silent'))
    expect(lines).toContain('Provider keys that all projects use: OPENAI_API_KEY')
    const without = await createStartupMessage(readConfig({}), database, createLog('silent'))
    expect(without.lines.join('\n')).not.toContain('Provider keys')
  })
})
