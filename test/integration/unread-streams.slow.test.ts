import { beforeAll, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { post } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { closingEvents, type DrivenCall, eventOf, startDrivenUpstream } from './streaming/driven-upstream.ts'
import { sendWithoutReading } from './streaming/raw-client.ts'

const MIB = 1024 * 1024
/** One unread stream fills this limit. */
const SMALL_ROOM = { MAX_UNREAD_BYTES: String(MIB) }
const PIECE = eventOf('0123456789abcdef'.repeat(1_024))
/** More than the kernel buffers. */
const TOTAL = 192 * MIB

interface Streams {
  heldBytes: number
  mostBytes: number
  isFull: boolean
}

/** Sends until the other side has disconnected. */
async function pour(call: DrivenCall): Promise<void> {
  for (let sent = 0; sent < TOTAL && !call.isClosed; sent += PIECE.length) await call.send(PIECE)
}

async function answer(call: DrivenCall): Promise<void> {
  await call.say('Here.')
  await call.send(closingEvents())
  call.end()
}

describeOnce('streams that their clients do not read', backend => {
  const upstream = duringTests(startDrivenUpstream)
  const proxy = duringTests(() =>
    startProxy({
      stores: backend.open(),
      environment: { AGGREGATOR_BASE_URL: upstream.baseUrl, AGGREGATOR_API_KEY: 'k', ...SMALL_ROOM },
    }),
  )
  let key: string

  beforeAll(async () => {
    key = await proxy.createKey({ type: 'project' })
  })

  async function readStreams(): Promise<Streams> {
    const health = await fetch(`${proxy.baseUrl}/health`)
    return ((await health.json()) as { streams: Streams }).streams
  }

  const isFull = async () => (await readStreams()).isFull

  test('a full memory budget rejects new streams before they are requested, disconnects the slowest reader, and accepts new ones again', async () => {
    expect(await readStreams()).toEqual({ heldBytes: 0, mostBytes: MIB, isFull: false })
    const client = await sendWithoutReading(proxy.port, key, question('Everything?', { stream: true }))
    const call = await upstream.nextCall()
    const poured = pour(call)
    await waitUntil('the limit on unread data is reached', isFull)

    const refused = await post(proxy, key, '/chat/completions', question('Me too?', { stream: true }))
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await refused.json()).toMatchObject({ error: { code: 'too_many_unread_streams' } })

    await waitUntil('the upstream call is closed', () => call.isClosed)
    await poured
    await waitUntil('the limit on unread data has space', async () => !(await isFull()))
    const next = post(proxy, key, '/chat/completions', question('And now?', { stream: true }))
    await answer(await upstream.nextCall())
    expect(await (await next).text()).toContain('data: [DONE]')

    await client.readAll()
    expect(client.tail).toContain('"code":"read_too_slowly"')
    await proxy.settle()
    const records = await proxy.query<{ status: number }>('select status from usage_records order by recorded_at')
    expect(records.map(({ status }) => status)).toContain(499)
    expect((await readStreams()).heldBytes).toBe(0)
  })

  test('one that is read steadily, though slowly, is delivered whole in a full budget', async () => {
    const call = await askSlowly('Slowly?')
    const pieces = 40
    for (let n = 0; n < pieces; n++) await call.upstream.send(PIECE)
    await call.upstream.send(closingEvents())
    call.upstream.end()
    expect(await call.text).toContain('data: [DONE]')
    expect((await call.text).split('\n\n').filter(event => event.includes('0123456789abcdef'))).toHaveLength(pieces)
    expect((await readStreams()).heldBytes).toBe(0)
  })

  async function askSlowly(text: string) {
    const responding = post(proxy, key, '/chat/completions', question(text, { stream: true }))
    const call = await upstream.nextCall()
    const reader = ((await responding).body as ReadableStream<Uint8Array>).getReader()
    async function readAll(): Promise<string> {
      let read = ''
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return read
        read += Buffer.from(value).toString('latin1')
        await Bun.sleep(20)
      }
    }
    return { upstream: call, text: readAll() }
  }
})

describeOnce('equal streams that their clients do not read', backend => {
  const EQUAL = 12
  const upstream = duringTests(startDrivenUpstream)
  const proxy = duringTests(() =>
    startProxy({
      stores: backend.open(),
      environment: { AGGREGATOR_BASE_URL: upstream.baseUrl, AGGREGATOR_API_KEY: 'k' },
    }),
  )
  let key: string

  beforeAll(async () => {
    key = await proxy.createKey({ type: 'project' })
  })

  test('share one call and one buffer, also those that arrive late', async () => {
    const body = question('The same?', { stream: true })
    const first = await sendWithoutReading(proxy.port, key, body)
    const call = await upstream.nextCall()
    let sent = 0
    for (; sent < 6 * MIB; sent += PIECE.length) void call.send(PIECE)
    await waitUntil('more than 1 MiB is unread', async () => (await held()) > MIB)
    const clients = await Promise.all(Array.from({ length: EQUAL }, () => sendWithoutReading(proxy.port, key, body)))
    let another = false
    void upstream.nextCall().then(() => {
      another = true
    })
    const all = [first, ...clients].map(client => client.readAll())
    await call.send(closingEvents())
    call.end()
    await Promise.all(all)
    for (const client of clients) expect(client.readBytes).toBeGreaterThan(sent)
    expect(another).toBe(false)
  }, 180_000)

  async function held(): Promise<number> {
    const health = await fetch(`${proxy.baseUrl}/health`)
    return ((await health.json()) as { streams: Streams }).streams.heldBytes
  }
})
