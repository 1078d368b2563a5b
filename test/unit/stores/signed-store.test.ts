import { expect, test } from 'vitest'
import { encodeAlias } from '../../../src/cache/entry.ts'
import type { FastStore } from '../../../src/stores/fast-store.ts'
import { createInProcessStore } from '../../../src/stores/in-process-store.ts'
import { createEntrySigner, createSignedStore } from '../../../src/stores/signed-store.ts'

const OLD = Buffer.alloc(32, 1)
const NEW = Buffer.alloc(32, 2)
const INSTALLATION = 'a0000000-0000-0000-0000-000000000000'
const ENTRY = Buffer.from('[1,"openai",1,2,3,4]\n{"id":"right"}')
const NAME = '{1}:E:0:aa'
const OTHER = '{1}:E:0:bb'
const ALIAS = Buffer.from(
  encodeAlias({ target: NAME, id: 'id', similarity: 0.99, reason: 'verified', settings: 's', askedHash: 'h' }),
)

function open(store: FastStore, current = NEW, previous: Uint8Array | null = null, installation = INSTALLATION) {
  const wrong: string[] = []
  const tagged = createSignedStore(store, {
    signer: createEntrySigner({ current, others: previous ? [previous] : [] }, installation),
    onInvalidSignature: name => wrong.push(name),
  })
  const read = async (name: string) =>
    (await tagged.count({ requests: 1, windows: [], entries: [name] })).entries.map(bytes => bytes && String(bytes))[0]
  return { tagged, wrong, read }
}

const spoilEnd = (bytes: Buffer) => bytes.fill('x', bytes.length - 1)

/** Changes the bytes of an entry in the underlying store. */
async function tamper(store: FastStore, name: string, change: (bytes: Buffer) => Uint8Array): Promise<void> {
  const [bytes] = await store.readEntries([name])
  await store.writeEntry(name, change(Buffer.from(bytes ?? [])), 60_000)
}

test('returns an entry as it was written', async () => {
  const { tagged, read, wrong } = open(createInProcessStore())
  await tagged.writeEntry(NAME, ENTRY, 60_000)
  expect(await read(NAME)).toBe(String(ENTRY))
  await tagged.writeEntries([{ name: OTHER, bytes: ENTRY, ttlMs: 60_000 }])
  expect((await tagged.readEntries([OTHER, 'none'])).map(bytes => bytes && String(bytes))).toEqual([
    String(ENTRY),
    null,
  ])
  expect(wrong).toEqual([])
})

test.each<[string, (bytes: Buffer) => Uint8Array]>([
  ['a byte of the value', spoilEnd],
  ['a byte of the nonce', bytes => bytes.fill((bytes[0] ?? 0) ^ 1, 0, 1)],
  ['a byte of the tag', bytes => bytes.fill((bytes[20] ?? 0) ^ 1, 20, 21)],
  ['its end', bytes => bytes.subarray(0, -1)],
  ['all but a few bytes', bytes => bytes.subarray(0, 5)],
  ['everything', () => Buffer.alloc(0)],
  ['its tag, as in an entry of another version', () => ENTRY],
])('an entry without %s is a miss, and is deleted', async (_, change) => {
  const below = createInProcessStore()
  const { tagged, read, wrong } = open(below)
  await tagged.writeEntry(NAME, ENTRY, 60_000)
  await tamper(below, NAME, change)
  expect(await read(NAME)).toBe(null)
  expect(wrong).toEqual([NAME])
  expect(await below.readEntries([NAME])).toEqual([null])
})

test('an entry that was moved to another name is a miss', async () => {
  const below = createInProcessStore()
  const { tagged, read, wrong } = open(below)
  await tagged.writeEntry(NAME, ENTRY, 60_000)
  const [bytes] = await below.readEntries([NAME])
  await below.writeEntry(OTHER, bytes ?? ENTRY, 60_000)
  expect(await read(OTHER)).toBe(null)
  expect(wrong).toEqual([OTHER])
})

test('an alias is read with its entry, each verified by its own tag', async () => {
  const below = createInProcessStore()
  const { tagged, read, wrong } = open(below)
  await tagged.writeEntry(NAME, ENTRY, 60_000)
  await tagged.writeEntry(OTHER, ALIAS, 60_000)
  expect(await read(OTHER)).toBe(String(ALIAS) + String(ENTRY))
  expect(await read(NAME)).toBe(String(ENTRY))
  await tamper(below, NAME, spoilEnd)
  expect(await read(OTHER)).toBe(null)
  expect(wrong).toEqual([NAME])
  await tagged.writeEntry(NAME, ENTRY, 60_000)
  await tamper(below, OTHER, bytes => bytes.fill('8', bytes.indexOf('0.99') + 2, bytes.indexOf('0.99') + 3))
  expect(await read(OTHER)).toBe(null)
  expect(wrong.at(-1)).toBe(OTHER)
})

test('an alias without its entry is a miss, and not counted as tampering', async () => {
  const { tagged, read, wrong } = open(createInProcessStore())
  await tagged.writeEntry(OTHER, ALIAS, 60_000)
  expect(await read(OTHER)).toBe(null)
  expect(wrong).toEqual([])
})

test('during a rotation, entries of the previous key are served; afterwards they are not', async () => {
  const below = createInProcessStore()
  await open(below, OLD).tagged.writeEntry(NAME, ENTRY, 60_000)
  expect(await open(below, NEW, OLD).read(NAME)).toBe(String(ENTRY))
  await open(below, NEW, OLD).tagged.writeEntry(OTHER, ENTRY, 60_000)
  expect(await open(below, NEW).read(OTHER)).toBe(String(ENTRY))
  expect(await open(below, NEW).read(NAME)).toBe(null)
})

test('another installation’s entry is a miss, even with the same key', async () => {
  const below = createInProcessStore()
  await open(below).tagged.writeEntry(NAME, ENTRY, 60_000)
  expect(await open(below, NEW, null, 'b0000000-0000-0000-0000-000000000000').read(NAME)).toBe(null)
})

test('no two entries have the same nonce', () => {
  const tags = createEntrySigner({ current: NEW, others: [] }, INSTALLATION)
  const nonces = Array.from({ length: 1_000 }, () =>
    Buffer.from(tags.sign(NAME, ENTRY).subarray(0, 12)).toString('hex'),
  )
  expect(new Set(nonces).size).toBe(1_000)
})

test('verifies a valid entry again once its bytes or its name differ', async () => {
  const below = createInProcessStore()
  const { tagged, read, wrong } = open(below)
  await tagged.writeEntry(NAME, ENTRY, 60_000)
  expect(await read(NAME)).toBe(String(ENTRY))
  expect(await read(NAME)).toBe(String(ENTRY))
  const [right = null] = await below.readEntries([NAME])
  await below.writeEntry(OTHER, right ?? Buffer.alloc(0), 60_000)
  expect(await read(OTHER)).toBe(null)
  await tamper(below, NAME, spoilEnd)
  expect(await read(NAME)).toBe(null)
  expect(wrong).toEqual([OTHER, NAME])
})

test('verifies a valid alias again once its entry is another', async () => {
  const below = createInProcessStore()
  const { tagged, read, wrong } = open(below)
  await tagged.writeEntry(NAME, ENTRY, 60_000)
  await tagged.writeEntry(OTHER, ALIAS, 60_000)
  const both = `${ALIAS}${ENTRY}`
  expect(await read(OTHER)).toBe(both)
  expect(await read(OTHER)).toBe(both)
  await tamper(below, NAME, spoilEnd)
  expect(await read(OTHER)).toBe(null)
  expect(wrong).toEqual([NAME])
})
