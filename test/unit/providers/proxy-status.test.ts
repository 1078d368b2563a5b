import { expect, test } from 'vitest'
import { AttemptList, setProxyStatusHeader } from '../../../src/providers/attempts.ts'
import { readProxyStatus } from '../../harness/read-proxy-status.ts'

const ATTEMPT = { provider: 'openai', key: null, startedAtMs: performance.now(), status: 503, failure: null }

function write(models: readonly string[], outcome: Partial<typeof ATTEMPT> = {}): Record<string, string> {
  let model = ''
  const attempts = new AttemptList({ currentModel: () => model, onFailed: () => {} })
  for (model of models) attempts.record({ ...ATTEMPT, ...outcome })
  const headers = {}
  setProxyStatusHeader(attempts, headers)
  return headers
}

const read = (headers: Record<string, string>) => readProxyStatus({ headers: new Headers(headers) })

test('is not written if no attempt failed', () => {
  expect(write(['a', 'b'], { status: 200 })).toEqual({})
  expect(write([])).toEqual({})
})

test.each([
  ['a"b', 'a"b'],
  ['a\\', 'a\\'],
  ['a, model-proxy; error=dns_error', 'a, model-proxy; error=dns_error'],
  ['"; key="k', '"; key="k'],
  ['größe\u2028', 'gr%C3%B6%C3%9Fe%E2%80%A8'],
  ['\r\nset-cookie: a=b\u0000\u007f', '%0D%0Aset-cookie: a=b%00%7F'],
  ['\ud800', '%EF%BF%BD'],
  ['', ''],
])('writes the model %j as one string', (model, text) => {
  expect(read(write([model]))).toMatchObject([{ model: text }])
})

test('has at most eight attempts, the last ones, and stays short', () => {
  const headers = write(Array.from({ length: 60 }, (_, at) => `${at}${'\\"ü'.repeat(85)}`))
  expect(read(headers).map(({ model }) => Number.parseInt(`${model}`, 10))).toEqual([52, 53, 54, 55, 56, 57, 58, 59])
  expect(headers['proxy-status']?.length).toBeLessThan(4_096)
})
