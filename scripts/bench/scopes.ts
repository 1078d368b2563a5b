/**
 * `bun scripts/bench/scopes.ts [--pairs N] [--scope user|key]`: measures how well response times alone reveal to one end user that another
 * one has sent a question. Alice sends one question of each pair, Bob sends both. The area under the curve is the probability that Bob's
 * times identify Alice's question; .5 is chance. Measured on embedded and real stores, with equal words, with other words, and while
 * Alice's request is in flight. `--scope project` shows the figures where both share cached responses.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { callFunction } from '../../src/postgres/call.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { ask } from '../../test/harness/client.ts'
import { embeddedUrl } from '../../test/harness/embedded-url.ts'
import { createRandom } from '../../test/harness/random.ts'
import { findFreePort, startProxyProcess, stop } from './processes.ts'
import { prepareStores } from './stores.ts'
import { startUpstream } from './targets.ts'

const { values: options } = parseArgs({
  options: {
    pairs: { type: 'string', default: '2000' },
    scope: { type: 'string', default: 'user' },
    seed: { type: 'string', default: '7' },
  },
})
const pairs = Number(options.pairs)
const random = createRandom(Number(options.seed))
const MODEL = 'someone/model'
/** The upstream's response time where Bob sends a request while Alice waits. Alice's request starts HEAD_START_MS earlier. */
const ANSWER_MS = 12
const HEAD_START_MS = 3
const PROJECT = 'scopes'

interface Proxy {
  baseUrl: string
  alice: string
  bob: string
  stop(): Promise<unknown>
}

const upstream = await startUpstream()
const KINDS = { 'word for word': tryStored, 'in other words': tryReworded, 'in flight': tryInFlight }
const rows: string[] = []
try {
  for (const [stores, start] of [
    ['embedded', startEmbedded],
    ['real', startReal],
  ] as const) {
    const proxy = await start()
    for (let i = 0; i < 100; i++) await tryStored(proxy)
    for (const [kind, attempt] of Object.entries(KINDS)) {
      await upstream.script({
        kind: 'answer',
        content: 'An answer.',
        firstByteDelayMs: kind === 'in flight' ? ANSWER_MS : 0,
      })
      const times: { asked: number; other: number }[] = []
      for (let i = 0; i < pairs; i++) times.push(await attempt(proxy))
      rows.push(`| ${stores} | ${kind} | ${areaUnderCurve(times).toFixed(3)} |`)
      process.stdout.write(`${rows.at(-1)}\n`)
    }
    await proxy.stop()
  }
} finally {
  await upstream.stop()
}
process.exit()

/** Bob's response times in milliseconds, for Alice's question and for another one. */
async function tryStored(proxy: Proxy): Promise<{ asked: number; other: number }> {
  const [asked, other] = inAnyOrder(writeQuestion(), writeQuestion())
  await timeOf(proxy, 'alice', `How do I ${asked}?`)
  return timeBoth(proxy, `How do I ${asked}?`, `How do I ${other}?`)
}

async function tryReworded(proxy: Proxy) {
  const [asked, other] = inAnyOrder(writeQuestion(), writeQuestion())
  await timeOf(proxy, 'alice', `Can you tell me how to ${asked}, please?`)
  return timeBoth(proxy, `How do I ${asked}?`, `How do I ${other}?`)
}

/** Alice sends a request in both cases, so that the proxy has equal load. */
async function tryInFlight(proxy: Proxy) {
  const beside = async (words: string, alices: string) => {
    const answered = timeOf(proxy, 'alice', alices)
    await Bun.sleep(HEAD_START_MS)
    const took = await timeOf(proxy, 'bob', words)
    await answered
    return took
  }
  const [asked, other, aside] = [writeQuestion(), writeQuestion(), writeQuestion()]
  const tell = { asked: () => beside(asked, asked), other: () => beside(other, aside) }
  return inOrder(tell)
}

function timeBoth(proxy: Proxy, asked: string, other: string) {
  return inOrder({ asked: () => timeOf(proxy, 'bob', asked), other: () => timeOf(proxy, 'bob', other) })
}

async function inOrder(both: Record<'asked' | 'other', () => Promise<number>>) {
  const times = { asked: 0, other: 0 }
  for (const which of inAnyOrder('asked', 'other')) times[which] = await both[which]()
  return times
}

async function timeOf(proxy: Proxy, who: 'alice' | 'bob', words: string): Promise<number> {
  const body = { model: MODEL, user: who, messages: [{ role: 'user', content: words }] }
  const startedAtMs = performance.now()
  const { status } = await ask(proxy, proxy[who], body)
  if (status !== 200) throw new Error(`expected 200 from the proxy, got ${status}`)
  return performance.now() - startedAtMs
}

function inAnyOrder<const One extends string>(one: One, other: One): [One, One] {
  return random() < 0.5 ? [one, other] : [other, one]
}

/** Returns a new question of similar length and kind. */
function writeQuestion(): string {
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T
  const name = Array.from({ length: 4 }, () =>
    pick('ka lo mi re ta vo sh be do fe gr hu ji ke la no pr qu ro su'.split(' ')),
  ).join('')
  return `${pick(['clean', 'repair', 'export', 'rename'])} the ${pick(['printer', 'account', 'backup', 'parcel'])} of ${name}`
}

/** The share of all compared pairs in which Alice's question had the shorter time, or the longer one if that share is larger. */
function areaUnderCurve(times: readonly { asked: number; other: number }[]): number {
  const all = times.flatMap(({ asked, other }) => [
    { ms: asked, isAsked: true },
    { ms: other, isAsked: false },
  ])
  all.sort((one, another) => one.ms - another.ms)
  let later = times.length
  let sooner = 0
  for (const { isAsked } of all) {
    if (isAsked) sooner += later
    else later -= 1
  }
  const area = sooner / times.length ** 2
  return Math.max(area, 1 - area)
}

async function startReal(): Promise<Proxy> {
  const stores = await prepareStores()
  return open({ ...stores.environment }, stores.environment.DATABASE_URL, () => stores.drop())
}

async function startEmbedded(): Promise<Proxy> {
  const dataDir = mkdtempSync(join(tmpdir(), 'model-proxy-scopes-'))
  const port = String(findFreePort())
  const environment = { DATABASE_URL: '', REDIS_URL: '', DATA_DIR: dataDir, EMBEDDED_PG_PORT: port }
  return open(
    environment,
    () => embeddedUrl(dataDir, port),
    async () => rmSync(dataDir, { recursive: true }),
  )
}

async function open(
  environment: Record<string, string>,
  url: string | (() => Promise<string>),
  remove: () => Promise<unknown>,
): Promise<Proxy> {
  const port = findFreePort()
  const addressed = { AGGREGATOR_BASE_URL: upstream.baseUrl, AGGREGATOR_API_KEY: 'scopes', METRICS_PORT: '0' }
  const process_ = await startProxyProcess({ ...environment, ...addressed }, port)
  const database = openServerDatabase({ url: typeof url === 'string' ? url : await url(), maxConnections: 1 })
  await database.runScript(`
    insert into model_proxy.plans values ('scopes', 1000000000, 1000000000, 1000000000000, 1000000000, 1000000000000);
  `)
  await callFunction(database, 'create_project', { project: PROJECT, plan: 'scopes' })
  await callFunction(database, 'set_settings', { project: PROJECT, settings: { cache_scope: options.scope } })
  const issue = (key_name: string) =>
    callFunction(database, 'issue_key', { project: PROJECT, key_type: 'project', key_name })
  const keys = { alice: await issue('alice'), bob: await issue('bob') }
  await database.close()
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    ...keys,
    async stop() {
      await stop(process_)
      await remove()
    },
  }
}
