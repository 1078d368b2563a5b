import { connect } from 'node:net'
import { beforeAll, expect, test } from 'vitest'
import { describeEmbedded } from '../../harness/backends.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'

/** Shorter than in production, where it would be the longest wait of all tests. Bun checks its timers every four seconds. */
const IDLE_TIMEOUT_SECONDS = 8
/** Slack for a busy machine. */
const SLACK_MS = 60_000

describeEmbedded('connections that are idle after a response', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open(), idleTimeoutSeconds: IDLE_TIMEOUT_SECONDS }))
  let key: string

  beforeAll(async () => {
    key = await proxy.createKey()
  })

  /** Sends requests, reads the responses, then idles. Resolves with everything received when the connection is closed. */
  function askAndIdle(body: string, times: number): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>()
    const request = `POST /v1/chat/completions HTTP/1.1\r\nHost: proxy\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    let received = ''
    let requests = 1
    const socket = connect(proxy.port, '127.0.0.1', () => socket.write(request))
    socket.on('data', data => {
      received += data.toString('latin1')
      if (received.split('HTTP/1.1 ').length - 1 === requests && isWhole(received) && requests++ < times)
        socket.write(request)
    })
    socket.on('close', () => resolve(received))
    return promise
  }

  test(
    'are closed after the idle limit, whatever the response was; until then they serve again',
    async () => {
      const chat = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Are connections free?' }] }
      // The seed keeps the stream from joining the plain request's call.
      const ends = await Promise.all([
        askAndIdle(JSON.stringify(chat), 2),
        askAndIdle(JSON.stringify({ ...chat, seed: 1, stream: true }), 2),
        askAndIdle('{}', 2),
      ])
      expect(ends.map(received => received.match(/HTTP\/1.1 \d+/g))).toEqual([
        ['HTTP/1.1 200', 'HTTP/1.1 200'],
        ['HTTP/1.1 200', 'HTTP/1.1 200'],
        ['HTTP/1.1 400', 'HTTP/1.1 400'],
      ])
      expect(ends[1]?.toLowerCase()).toContain('x-accel-buffering: no')
    },
    // The contract itself: the connections are closed, or the test times out.
    IDLE_TIMEOUT_SECONDS * 1000 + SLACK_MS,
  )
})

/** The last response is complete. */
function isWhole(received: string): boolean {
  const last = received.slice(received.lastIndexOf('HTTP/1.1 '))
  const length = /content-length: (\d+)/i.exec(last)?.[1]
  if (length === undefined) return last.endsWith('0\r\n\r\n')
  return last.length - last.indexOf('\r\n\r\n') - 4 >= Number(length)
}
