/**
 * Batch files whose requests a provider and the proxy could count differently. Each is rejected with its line number before a provider
 * receives it.
 */
import { beforeAll, expect, test } from 'vitest'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeEmbedded } from '../harness/backends.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const REQUEST = {
  custom_id: '1',
  method: 'POST',
  url: '/v1/chat/completions',
  body: { model: 'openai/gpt-4o-mini', messages: [] },
}
const ONE = JSON.stringify(REQUEST)
const without = (field: keyof typeof REQUEST) => JSON.stringify({ ...REQUEST, [field]: undefined })
const SEPARATORS = [
  '\r',
  '\u2028',
  '\u2029',
  '\u0085',
  ' ',
  '\t',
  ',',
  '\v',
  '\f',
  '\x1c',
  '\x1e',
  '\0',
  ';',
  '\u00a0',
  '\ufeff',
  '',
]

const BAD: Record<string, [content: string | Uint8Array, line: number]> = {
  ...Object.fromEntries(
    SEPARATORS.map(between => [`fifty between ${JSON.stringify(between)}`, [Array(50).fill(ONE).join(between), 1]]),
  ),
  ...Object.fromEntries(
    ['\r', '\u2028', '\u2029', '\u0085'].map(end => [
      `one hidden in a string by ${JSON.stringify(end)}`,
      [`${ONE}\n{"custom_id":"x${end}${ONE}${end}y"}`, 2],
    ]),
  ),
  'one hidden between fields': [`${ONE.slice(0, -1)},\r"x":\r${ONE}\r}`, 1],
  'one array': [`[${ONE},${ONE}]`, 1],
  'an array over lines': [`[\n${ONE},\n${ONE}\n]`, 1],
  base64: [Buffer.from(`${ONE}\n${ONE}`).toString('base64'), 1],
  gzip: [Bun.gzipSync(Buffer.from(ONE)), 1],
  'UTF-16': [Buffer.from(`${ONE}\n${ONE}`, 'utf16le'), 1],
  'Latin-1': [Buffer.from(ONE.replace('"1"', '"é"'), 'latin1'), 1],
  'a byte order mark': [`\uFEFF${ONE}`, 1],
  'a comment': [`${ONE}\n# ${ONE}`, 2],
  'a blank line before a bad one': [`${ONE}\n\n{}`, 3],
  'a body twice': [`${ONE.slice(0, -1)},"body":{"model":"x","input_file_id":"file-1"}}`, 1],
  'a method that is not POST': [ONE.replace('POST', 'GET'), 1],
  'too many levels': [`${ONE.slice(0, -2)},"x":${'['.repeat(10_000)}${']'.repeat(10_000)}}}`, 1],
  'too many arrays': [`${ONE.slice(0, -2)},"x":[${'[],'.repeat(500_000)}0]}}`, 1],
  ...Object.fromEntries(
    (['custom_id', 'method', 'url', 'body'] as const).map(field => [`no ${field}`, [`${ONE}\n${without(field)}`, 2]]),
  ),
}

describeEmbedded('files of a batch', backend => {
  const upstream = duringTests(startFakeProvider)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstream.environment }))
  let key: string

  beforeAll(async () => {
    key = await proxy.createKey({ type: 'project' })
  })

  async function upload(content: string | Uint8Array) {
    const form = new FormData()
    form.set('purpose', 'batch')
    form.set('file', new Blob([content as never]), 'in.jsonl')
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(`${proxy.baseUrl}/files`, { method: 'POST', headers, body: form })
    return { status: response.status, text: await response.text() }
  }

  test.each(Object.entries(BAD))('%s', async (_, [content, line]) => {
    const callsBefore = upstream.counts.total
    const { status, text } = await upload(content)
    expect([status, text]).toEqual([400, expect.stringContaining(`Line ${line} of the file: `)])
    expect(upstream.counts.total).toBe(callsBefore)
  })

  test.each([
    ['LF', `${ONE}\n${ONE}\n`, 2],
    ['CRLF', `${ONE}\r\n${ONE}\r\n\r\n`, 2],
    ['no end', `${ONE}\n${ONE}\n${ONE}`, 3],
    ['escaped separators', ONE.replace('"1"', '"a\\u2028b\\rc\\u0085"'), 1],
  ])('counts %s line by line', async (_, content, requests) => {
    const { status, text } = await upload(content)
    expect(status, text).toBe(200)
    const [kept] = await proxy.query<{ requests: number }>(
      `select requests::integer from stored_objects where id = '${JSON.parse(text).id}'`,
    )
    expect(kept?.requests).toBe(requests)
  })
})
