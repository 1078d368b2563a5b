import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { startBackgroundLoop } from '../../../src/process/maintenance.ts'
import { FailureReporter } from '../../../src/telemetry/failure-reporter.ts'

afterEach(() => vi.useRealTimers())

function createReporter() {
  const lines: { fields: object; message: string }[] = []
  const reporter = new FailureReporter((fields, message) => lines.push({ fields, message }))
  return { reporter, lines }
}

test('a failure is logged without its message, counted, and lasts until its own part recovers', () => {
  const { reporter, lines } = createReporter()
  reporter.report('store', new Error('a prompt'), 'not stored', { part: 'one' })
  reporter.report('store', new Error('a prompt'), 'not stored', { part: 'another' })
  expect(lines[0]).toEqual({ fields: { what: 'store', cause: 'Error' }, message: 'not stored' })
  expect(reporter.totals().get('store')).toBe(2)
  expect(reporter.totals().get('lookup')).toBe(0)
  reporter.recover('store', 'one')
  expect(reporter.listFailing()).toEqual(['store'])
  reporter.recover('store', 'another')
  expect(reporter.listFailing()).toEqual([])
  expect(reporter.totals().get('store')).toBe(2)
})

test('a failure that is not repeated ends after a minute, and a repeated one does not', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const { reporter } = createReporter()
  reporter.report('request', new Error(), 'failed')
  vi.advanceTimersByTime(59_000)
  expect(reporter.listFailing()).toEqual(['request'])
  reporter.report('request', new Error(), 'failed')
  vi.advanceTimersByTime(59_000)
  expect(reporter.listFailing()).toEqual(['request'])
  vi.advanceTimersByTime(1_000)
  expect(reporter.listFailing()).toEqual([])
})

test('an hourly loop is retried soon after a failure, and fails until it succeeds', async () => {
  vi.useFakeTimers()
  const { reporter } = createReporter()
  let isBroken = true
  let runs = 0
  const loop = startBackgroundLoop({
    delayMs: 3_600_000,
    what: 'partitions',
    message: 'not maintained',
    failures: reporter,
    async run() {
      runs++
      if (isBroken) throw new Error()
    },
  })
  await vi.advanceTimersByTimeAsync(3_599_000)
  expect(runs).toBe(0)
  await vi.advanceTimersByTimeAsync(1_000)
  for (let second = 0; second < 120; second++) {
    expect(reporter.listFailing()).toEqual(['partitions'])
    await vi.advanceTimersByTimeAsync(1_000)
  }
  isBroken = false
  await vi.advanceTimersByTimeAsync(30_000)
  expect(reporter.listFailing()).toEqual([])
  const before = runs
  await vi.advanceTimersByTimeAsync(3_590_000)
  expect(runs).toBeLessThanOrEqual(before + 1)
  loop.stop()
  await vi.advanceTimersByTimeAsync(7_200_000)
  expect(runs).toBeLessThanOrEqual(before + 1)
})

describe('src', () => {
  const ROOT = join(import.meta.dirname, '../../../src')
  /** Beginnings of log messages that do not report lost work: health reports the problem, or nothing was dropped. */
  const NO_LOST_WORK = [
    // Reported by health: problems of PostgreSQL, the state of Redis, standbys and circuits, and wrong integrity tags.
    'the disk of the database is full',
    'two servers of DATABASE_URL take writes',
    'the only server of DATABASE_URL that takes writes',
    'a standby of DATABASE_STANDBY_URL',
    'Redis is lost',
    'Redis does not answer',
    'circuit opened',
    'an entry or a message in Redis had a wrong integrity tag',
    // Reported to a client or a user.
    'request failed',
    'a login by OpenID Connect failed',
    'the OpenID Connect provider cannot be reached',
    // Failures outside the proxy. The request continues without the service, or elsewhere.
    'a provider key was rejected and cools down',
    'the hook keeps failing',
    'the judge returned no verdict',
    'the judge returned no verdict to learn from; its pairs are postponed',
    'judge model is skipped: its recent calls failed',
    'the judge did not return a verdict in time; the request continues without it',
    // Configuration and actions of the operator.
    'an environment variable is no setting',
    '{ provider, status, setting }, message',
    'the pooler takes no statement_timeout',
    'a newer release has migrated the database',
    'the port for metrics is taken',
    'the database differs from this version',
    'the dashboard cannot read',
    'Redis cannot be used',
    'the database of REDIS_URL does not exist',
    'the startup message waits for the database',
    'requests took too long to end',
    'connections run short',
    'the clock of the database has stepped back',
    'the event loop was blocked',
    // The supervisor replaces these workers. It serves no requests itself.
    'a worker ended',
    'a worker has fallen silent',
    'a response exceeded its limit',
  ]

  test('reports lost work to the one reporter: no other log line has an error', () => {
    const calls = [...new Bun.Glob('**/*.ts').scanSync(ROOT)].flatMap(path => {
      const text = readFileSync(join(ROOT, path), 'utf8')
      return Array.from(text.matchAll(/\blog\??\.(?:warn|error)\(/g), ({ index }) => ({
        path,
        call: callAt(text, index),
      }))
    })
    expect(calls.length).toBeGreaterThan(10)
    const isListed = (text: string) => NO_LOST_WORK.some(beginning => text.includes(beginning))
    expect(calls.filter(({ call }) => !isListed(call.replaceAll(/['`]/g, '')))).toEqual([])
  })
})

/** Returns the text of a call up to its closing parenthesis. */
function callAt(text: string, from: number): string {
  let depth = 0
  for (let at = text.indexOf('(', from); at < text.length; at++) {
    if (text[at] === '(') depth++
    if (text[at] === ')' && --depth === 0) return text.slice(from, at + 1)
  }
  return text.slice(from)
}
