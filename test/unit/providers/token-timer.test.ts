import { describe, expect, test, vi } from 'vitest'
import type { TimeLimits } from '../../../src/providers/time-limits.ts'
import { TokenTimer } from '../../../src/providers/token-timer.ts'
import { passMs, useTestClock } from '../../harness/test-clock.ts'

const PROCESS = { firstByteTimeoutMs: 1_000, idleTimeoutMs: 500 }

function create(timeLimits?: Partial<TimeLimits>) {
  const request = new AbortController()
  return { request, timer: new TokenTimer('p', { timeLimits, signal: request.signal }, PROCESS) }
}

/** Waits for the provider for this long. */
async function waitMs(timer: TokenTimer, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const waiting = timer.wait(promise)
  await passMs(ms)
  resolve()
  await waiting
}

describe('a limit on tokens', () => {
  useTestClock()

  test('ends a wait for the first token, however many other events arrive', async () => {
    const { timer } = create({ firstTokenMs: 100 })
    await waitMs(timer, 60)
    expect(timer.signal.aborted).toBe(false)
    await waitMs(timer, 60)
    expect(timer.signal.reason).toMatchObject({
      ...{ kind: 'silent', status: 504, timeoutMs: 100 },
      message: 'Upstream p timed out: no first token within 100 ms.',
    })
  })

  test('begins anew with each token', async () => {
    const { timer } = create({ firstTokenMs: 100, idleMs: 50 })
    await waitMs(timer, 90)
    for (let token = 0; token < 3; token++) {
      timer.recordToken()
      await waitMs(timer, 40)
    }
    expect(timer.signal.aborted).toBe(false)
    await waitMs(timer, 20)
    expect(timer.signal.reason).toMatchObject({ message: 'Upstream p timed out: no next token within 50 ms.' })
  })

  test('does not count the time during which the client is slow', async () => {
    const { timer } = create({ firstTokenMs: 100, idleMs: 50 })
    timer.recordToken()
    await waitMs(timer, 30)
    await passMs(10_000)
    await waitMs(timer, 15)
    expect(timer.signal.aborted).toBe(false)
  })

  test.each([undefined, { firstTokenMs: 5_000, idleMs: 5_000 }])('is never above the process’s: %j', async limits => {
    const { timer } = create(limits)
    await waitMs(timer, 1_001)
    expect(timer.signal.reason).toMatchObject({ timeoutMs: Number.POSITIVE_INFINITY })
    const { timer: later } = create(limits)
    later.recordToken()
    await waitMs(later, 501)
    expect(later.signal.aborted).toBe(true)
  })

  test('leaves no timer behind after a failure', async () => {
    const { timer, request } = create({ firstTokenMs: 100 })
    const waiting = timer.wait(Promise.reject(new Error('cut')))
    await expect(waiting).rejects.toThrow('cut')
    expect(vi.getTimerCount()).toBe(0)
    request.abort('gone')
    expect(timer.signal.reason).toBe('gone')
  })
})
