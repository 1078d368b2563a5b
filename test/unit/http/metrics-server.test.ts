import { expect, test } from 'vitest'
import { serveMetrics } from '../../../src/http/metrics-server.ts'

test('a metrics port belongs to one proxy: a scrape never reports another one', async () => {
  const serve = (port: number) => serveMetrics({ host: '127.0.0.1', port, token: null }, async () => [])
  const first = serve(0)
  try {
    expect(() => serve(first.port ?? 0)).toThrow('in use')
  } finally {
    await first.stop(true)
  }
})
