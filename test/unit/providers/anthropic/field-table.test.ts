import { expect, test } from 'vitest'
import {
  writeFieldTable,
  writeMessagesTable,
  writeOperationTable,
  writeResponsesTable,
} from '../../../../scripts/field-table.ts'
import { FIELD_RULES } from '../../../../src/providers/anthropic/field-rules.ts'
import { createConnectionProbe } from '../../../../src/providers/connection-probe.ts'
import { createOpenAiCompatibleProvider } from '../../../../src/providers/openai-compatible.ts'
import { startStandin } from '../../../standin/server.ts'

test.each([writeFieldTable, writeResponsesTable, writeMessagesTable])(
  'the README holds what %o writes',
  async write => {
    const readme = await Bun.file(new URL('../../../../README.md', import.meta.url)).text()
    // Where it is not: bun scripts/field-table.ts prints it.
    expect(readme).toContain(write())
  },
)

test('the page on what is passed on holds its table', async () => {
  const page = await Bun.file(new URL('../../../../docs/pass-through.md', import.meta.url)).text()
  expect(page).toContain(writeOperationTable())
})

test('every field has a row, and no cell breaks the table', () => {
  const rows = writeFieldTable().split('\n')
  expect(rows).toHaveLength(Object.keys(FIELD_RULES).length + 3)
  for (const row of rows) expect(row.split('|')).toHaveLength(6)
})

test('providers that speak OpenAI’s format get a body as it was sent, but for the usage that is asked for', async () => {
  const standin = await startStandin()
  const { baseUrl } = standin
  const limits = {
    connectTimeoutMs: 1_000,
    firstByteTimeoutMs: 5_000,
    idleTimeoutMs: 5_000,
    maxEventBytes: 1e6,
    maxAnswerBytes: 1e6,
  }
  const provider = createOpenAiCompatibleProvider({
    name: 'openai',
    kind: 'openai',
    pricedAs: 'openai',
    projectId: 1,
    baseUrl,
    apiKey: 'k',
    limits,
    probe: createConnectionProbe(),
  })
  const body = {
    ...Object.fromEntries(Object.keys(FIELD_RULES).map(field => [field, { of: field }])),
    model: 'm',
    messages: [{ role: 'user', content: 'x' }],
    invented_tomorrow: [1.5, null],
  }
  const signal = new AbortController().signal
  const ask = async (fields: Record<string, unknown>) => {
    const sent: Record<string, unknown> = { ...body, ...fields }
    const stream = sent.stream === true
    const bodyText = JSON.stringify(sent)
    const answer = await provider.ask({
      endpoint: 'chat',
      bodyText,
      body: sent,
      headers: new Headers(),
      stream,
      signal,
    })
    await answer.body.cancel()
    return { sent, got: standin.requests.at(-1)?.body }
  }
  const plain = await ask({ stream: false })
  expect(plain.got).toEqual(plain.sent)
  const streamed = await ask({ stream: true, stream_options: { include_obfuscation: false } })
  const stream_options = { include_obfuscation: false, include_usage: true }
  expect(streamed.got).toEqual({ ...streamed.sent, stream_options })
  await standin.stop()
})
