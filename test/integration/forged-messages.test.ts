import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeEntry } from '../../src/cache/entry.ts'
import { encodeMessage, MESSAGE_KINDS } from '../../src/pipeline/coalescing/messages.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { installationPrefix } from '../../src/stores/redis/redis-store.ts'
import { createEntrySigner, SIGNATURE_BYTES } from '../../src/stores/signed-store.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeReal, openBus } from '../harness/backends.ts'
import { question, textOf } from '../harness/chat.ts'
import { ask } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

/** The position of the kind in a message, after the signature. */
const JOIN_AT = SIGNATURE_BYTES
const ID_LENGTH = 36

describeReal('messages that another program publishes', backend => {
  const upstream = duringTests(startFakeProvider)
  let key: string
  let prefix: string
  let forger: Redis
  let listener: Redis
  const proxies: TestProxy[] = []
  const buses: Awaited<ReturnType<typeof openBus>>[] = []
  const received: { channel: string; message: Buffer }[] = []

  beforeAll(async () => {
    const stores = await backend.open()
    prefix = installationPrefix(await callFunction(stores.database, 'installation_id', {}))
    forger = new Redis(stores.redisUrl ?? '')
    listener = new Redis(stores.redisUrl ?? '')
    listener.on('pmessageBuffer', (_pattern, channel: Buffer, message: Buffer) => {
      received.push({ channel: String(channel), message })
    })
    await listener.psubscribe(`${prefix}bus:*`)
    for (let i = 0; i < 2; i++) {
      const bus = await openBus(stores)
      buses.push(bus)
      proxies.push(await startProxy({ stores, environment: upstream.environment, bus }))
    }
    key = await (proxies[0] as TestProxy).createKey({ type: 'project' })
    for (const bus of buses) await waitUntil('the bus is subscribed', () => bus.send(bus.processId, new Uint8Array(0)))
  })
  afterAll(async () => {
    forger.disconnect()
    listener.disconnect()
    await Promise.all(proxies.map(proxy => proxy.stop()))
    await Promise.all(buses.map(bus => bus.close()))
  })

  test('are ignored: a follower gets the upstream’s response', async () => {
    const [leading, following] = proxies as [TestProxy, TestProxy]
    const [leader, follower] = buses.map(bus => `bus:${bus.processId}`) as [string, string]
    // Longer than joining takes on any machine.
    upstream.script({ kind: 'answer', content: 'the truth', firstByteDelayMs: 5_000 })
    const sent = question('Forged?')
    const first = ask(leading, key, sent)
    await waitUntil('the request reaches the upstream', async () => upstream.requests.length > 0)
    const second = ask(following, key, sent)
    // Skips the empty message that the proxy sent to itself.
    const findJoin = () =>
      received.find(({ channel, message }) => channel === prefix + leader && message.length > JOIN_AT)?.message
    await waitUntil('the follower joins', async () => findJoin() !== undefined)
    const join = findJoin() ?? Buffer.alloc(0)
    const followerId = join.toString('latin1', JOIN_AT + 1, JOIN_AT + 1 + ID_LENGTH)
    expect(join.toString('latin1', JOIN_AT, JOIN_AT + 1)).toBe(MESSAGE_KINDS.join)

    const body = Buffer.from(JSON.stringify({ choices: [{ message: { content: 'a lie' }, finish_reason: 'stop' }] }))
    const entry = {
      body,
      provider: 'x',
      promptTokens: 1,
      completionTokens: 1,
      createdAtMs: 1,
      policy: null,
      expiresAtMs: 1,
    }
    const message = encodeMessage({ kind: MESSAGE_KINDS.complete, followerId, payload: encodeEntry(entry) })
    const tags = createEntrySigner({ current: Buffer.alloc(32, 9), others: [] }, 'another')
    const ofAnotherMessage = Buffer.concat([join.subarray(0, JOIN_AT), message])
    const before = await readWrongTags(following)
    for (const forged of [message, tags.sign(follower, message), ofAnotherMessage]) {
      expect(await forger.publish(prefix + follower, Buffer.from(forged))).toBeGreaterThan(0)
    }
    await waitUntil('forged messages are counted', async () => (await readWrongTags(following)) >= before + 3)
    expect([textOf(await first), textOf(await second)]).toEqual(['the truth', 'the truth'])
  })

  async function readWrongTags({ baseUrl }: TestProxy): Promise<number> {
    const health = (await (await fetch(`${baseUrl}/health`)).json()) as {
      dependencies: { redis: { wrongTags: number } }
    }
    return health.dependencies.redis.wrongTags
  }
})
