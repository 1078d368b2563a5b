/**
 * Memory that a process holds between requests is bounded: caches by count or bytes, other collections by code that removes their entries.
 */

import { heapStats } from 'bun:jsc'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createParsedBodyCache } from '../../src/pipeline/context/read-request.ts'
import { parseRequest } from '../../src/pipeline/request/parse-request.ts'
import { createInProcessStore } from '../../src/stores/in-process-store.ts'
import { createEntrySigner, createSignedStore } from '../../src/stores/signed-store.ts'

const ROOT = new URL('../../src/', import.meta.url).pathname
/** Pages run in a browser, commands end, and objects of the other modules live no longer than a request. */
const SHORT_LIVED =
  /^(dashboard\/pages|process\/(?:commands|import)|config|formats(?!\/tokens)|pipeline|providers\/anthropic)\//
const FILES = [...new Bun.Glob('**/*.ts').scanSync(ROOT)].filter(file => !SHORT_LIVED.test(file))
const read = (file: string) => readFileSync(ROOT + file, 'utf8')

/** Collections without removal. Each is as large as the number of things named here, which clients cannot increase. */
const AS_MANY_AS: Record<string, string> = {
  'admission/rate-limiter.ts batchers': 'shards of Redis',
  'cache/verify/compared-pair.ts positions': 'numbers of a pair of questions',
  'event-loop/worker-pool.ts #jobCounts': 'kinds of jobs',
  'formats/tokens/text-counter.ts loaded': 'vocabularies',
  'postgres/call.ts functionCalls': 'functions of the database',
  'postgres/repair-schema.ts #announced': 'objects of the schema',
  'postgres/repair-schema.ts #attempted': 'objects of the schema',
  'postgres/standbys.ts #readPools': 'time limits of statements',
  'providers/balance-keys.ts readyAtMs': 'keys of one provider',
  'providers/connection-probe.ts respondedAtMs': 'base addresses of providers',
  'providers/create-providers.ts guards': 'vendors with a key of the installation',
  'providers/keys/installation-keys.ts renewals': 'vendors with a key of the installation',
  'providers/credentials/credentials.ts #pairs': 'pairs of bytes of one key',
  'providers/credentials/credentials.ts #encodings': 'first characters of encodings of one key',
  'postgres/embedded/session-lock.ts others': 'statements that wait',
  'postgres/embedded/session-lock.ts urgent': 'statements that wait',
  'telemetry/proxy-metrics.ts known': 'listed models, statuses and places in the code',
  'telemetry/rejection-counter.ts totals': 'codes of errors',
}
const COLLECTION = /^( {0,2})(?:readonly )?(?:const )?(#?\w+)(?:: [^=\n]+)? = new (?:Map|Set)(?:<.*>)?\(\)$/gm
const MAKER = /^(?:export )?(?:async )?function (\w+)/gm

/** Returns true for a class field, a module variable, or a variable of a function that returns closures. */
function isKept(text: string, at: number, indent: string, name: string): boolean {
  if (indent === '' || name.startsWith('#')) return true
  const [, maker = ''] = [...text.slice(0, at).matchAll(MAKER)].at(-1) ?? []
  return /^(create|open|guard|join|start|watch|remembered)/.test(maker)
}

function listOnlyAddedTo(): string[] {
  return FILES.flatMap(file => {
    const text = read(file)
    return [...text.matchAll(COLLECTION)].flatMap(({ 1: indent = '', 2: name = '', index }) => {
      const isTakenFrom = new RegExp(`${name}\\.(delete|clear)\\(`).test(text)
      return isKept(text, index, indent, name) && !isTakenFrom ? [`${file} ${name}`] : []
    })
  })
}

test('a map that only grows has no more values than there are constants in the code', () => {
  expect([...new Set(listOnlyAddedTo())].toSorted()).toEqual(Object.keys(AS_MANY_AS).toSorted())
})

const CACHES = FILES.flatMap(file => {
  const text = read(file)
  return [...text.matchAll(/new LRUCache<[^\n]*>\(([^)]*)/g)].map(([, options = '']) => ({ file, text, options }))
})

test('the code has caches to check', () => {
  expect(CACHES.length).toBeGreaterThan(15)
})

test.each(CACHES)('the cache of $file is bounded', ({ text, options }) => {
  // Several caches may share one constant for their bound.
  const written = /^\w+$/.test(options)
    ? (new RegExp(`const ${options} = ([^\n]*)`).exec(text)?.[1] ?? options)
    : options
  expect(written).toMatch(/\bmax(Size)?: |^(?:\{\s+\.\.\.)?CAPACITY\b/)
})

const MIB = 1024 * 1024

/** Returns the growth of the heap in MiB. */
async function measure(fill: () => unknown): Promise<number> {
  Bun.gc(true)
  const before = heapStats()
  const kept = await fill()
  Bun.gc(true)
  const after = heapStats()
  expect(kept).toBeDefined()
  return (after.heapSize + after.extraMemorySize - before.heapSize - before.extraMemorySize) / MIB
}

const ask = (i: number) =>
  JSON.stringify({
    model: 'openai/gpt-4o-mini',
    messages: [
      { role: 'system', content: `You know all about stone ${i}.` },
      { role: 'user', content: `Describe stone ${i}.` },
    ],
  })

/** Caches that are bounded by bytes, filled with many small values, whose overhead exceeds their bytes. */
const BY_BYTES: Record<string, () => unknown> = {
  'parsed bodies': () => {
    const bodies = createParsedBodyCache()
    const asked = { endpoint: 'chat' as const, headers: new Headers() }
    for (let i = 0; i < 30_000; i++) bodies.store(parseRequest(asked, ask(i)))
    return bodies
  },
  'entries with valid signatures': async () => {
    const tags = createEntrySigner({ current: Buffer.alloc(32, 1), others: [] }, 'x')
    const store = createInProcessStore({ maxEntryBytes: MIB })
    const tagged = createSignedStore(store, { signer: tags, onInvalidSignature: () => {} })
    for (let i = 0; i < 30_000; i++) {
      await tagged.writeEntry(`${i}`, Buffer.from(ask(i)), 60_000)
      await tagged.count({ requests: 1, windows: [], entries: [`${i}`] })
    }
    await store.close()
    return tagged
  },
}

test.each(Object.entries(BY_BYTES))('%s use no more memory than their limit', async (_, fill) => {
  expect(await measure(fill)).toBeLessThan(24)
})
