import { afterAll, beforeAll, expect, test } from 'vitest'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeOnce } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { HOOK_SECRET } from '../harness/hook.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'

const REFUSED: Record<string, readonly string[]> = {
  'a card number': [
    '4111111111111111',
    'Visa 4111 1111 1111 1111, please',
    'amex 3782-822463-10005',
    '５５５５５５５５５５５５４４４４',
    '4111\u200b1111 1111\u200d1111',
  ],
  'an IBAN': ['DE89 3704 0044 0532 0130 00 and more', 'gb82west12345698765432', 'NL91ABNA0417164300'],
  'a key': ['sk-proj-abcdefghijklmnop1234', 'AKIAIOSFODNN7EXAMPLE', '-----BEGIN RSA PRIVATE KEY-----'],
  'a mail address': ['write to alice@example.com', 'a.b+c@mail.example.co.uk'],
}
/** A pattern that backtracks would take minutes for the last text. */
const ALLOWED = [
  '4111 1111 1111 1112',
  'order 4111111111111111000000111',
  'DE89 3704 0044 0532 0130 02',
  'XX89370400440532013000',
  'the version is sk-1.2',
  'an @ sign, or a@b',
  'pi is 3.14159265358979323846',
  `${'a1-'.repeat(200_000)} @`,
]

describeOnce('the hook of examples/', backend => {
  const upstream = duringTests(startFakeProvider)
  let hook: Bun.Server<undefined>
  let proxy: TestProxy
  let stranger: TestProxy
  let key: string

  beforeAll(async () => {
    process.env.HOOK_SECRET = HOOK_SECRET
    const { default: served } = await import('../../examples/hook/hook.ts')
    delete process.env.HOOK_SECRET
    hook = Bun.serve({ ...served, port: 0 })
    const stores = await backend.open()
    const environment = { ...upstream.environment, HOOK_URL: `http://127.0.0.1:${hook.port}`, HOOK_SECRET }
    proxy = await startProxy({ stores, environment })
    const HOOK_OTHER = Buffer.alloc(32, 'other').toString('base64')
    stranger = await startProxy({ stores, environment: { ...environment, HOOK_SECRET: HOOK_OTHER } })
    key = await proxy.createKey({ type: 'project' })
  })
  afterAll(async () => {
    await Promise.all([proxy.stop(), stranger.stop()])
    await hook.stop(true)
  })

  test.each(Object.entries(REFUSED))('rejects %s in a request, by its checksum or its pattern', async (what, texts) => {
    for (const text of texts) {
      const { status, json } = await ask(proxy, key, question(text))
      expect([text, status, json.error?.code]).toEqual([text, 400, 'request_refused'])
      expect(json.error.message).toBe(`Your request holds ${what}, which must not pass.`)
    }
    expect(upstream.requests).toHaveLength(0)
  })

  test('accepts what only looks like it', async () => {
    upstream.script({ kind: 'answer', content: 'All right.' })
    for (const text of ALLOWED)
      expect([text.slice(0, 40), (await ask(proxy, key, question(text))).status]).toEqual([text.slice(0, 40), 200])
  })

  test('rejects them in a response', async () => {
    upstream.script({ kind: 'answer', content: 'Her IBAN is DE89 3704 0044 0532 0130 00.' })
    for (const stream of [false, true]) {
      const { status, text } = await ask(proxy, key, question('What is her IBAN?', { stream }))
      expect([status, JSON.parse(text).error.message]).toEqual([400, 'The answer holds an IBAN, which must not pass.'])
    }
  })

  test('ignores unknown senders', async () => {
    const { status, json } = await ask(stranger, key, question('Hello?'))
    expect([status, json.error.code]).toEqual([503, 'hook_unavailable'])
  })
})
