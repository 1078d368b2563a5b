/**
 * A fast store that never fails a request. While Redis is out of reach, entries are misses, and this process counts windows from what it
 * last saw. When Redis is back, it gets everything it does not know.
 */
import type { FastStore, PassBatch, PassVerdict } from './fast-store.ts'
import { type OnStoreChange, StoreGuard } from './store-guard.ts'
import { WindowMemory } from './window-memory.ts'

export interface GuardedStore extends FastStore {
  /** Whether the store answered the last attempt. */
  isUp(): boolean
}

export interface GuardOptions {
  /** How many processes share the store. While it is away, each of them grants its share of every limit. */
  processes?: number
  onChange?: OnStoreChange
}

export function guardStore(store: FastStore, { processes = 1, onChange }: GuardOptions = {}): GuardedStore {
  const memory = new WindowMemory(processes)
  const guard = new StoreGuard(onChange)

  /** Redis's reply is remembered even when it comes too late for the request. */
  async function passInStore(batch: PassBatch): Promise<PassVerdict> {
    const recalled = memory.recall(batch)
    try {
      const verdict = await store.pass(recalled)
      memory.noteCounted(recalled, verdict)
      return verdict
    } catch (error) {
      memory.noteFailed(recalled)
      throw error
    }
  }

  const nothing = () => {}
  return {
    kind: store.kind,
    isUp: () => guard.isUp,
    pass(batch: PassBatch): Promise<PassVerdict> {
      let isCountedHere = false
      async function attempt(): Promise<PassVerdict> {
        const verdict = await passInStore(batch)
        if (isCountedHere) await uncountTwice(store, batch, verdict)
        return verdict
      }
      return guard.try(attempt, () => {
        isCountedHere = true
        return markLocal(memory.passAlone(batch))
      })
    },
    // The sign tells which store counted the request; it is taken back there, even if the other store is in use now.
    uncount: async (names, requests, second) =>
      isLocal(second)
        ? memory.uncountAlone(names, requests, -second)
        : guard.try(() => store.uncount(names, requests, second), nothing),
    writeEntry: (name, bytes, ttlMs) => guard.try(() => store.writeEntry(name, bytes, ttlMs), nothing),
    deleteEntry: name => guard.try(() => store.deleteEntry(name), nothing),
    readEntries: names =>
      guard.try(
        () => store.readEntries(names),
        () => names.map(() => null),
      ),
    writeEntries: entries =>
      guard.try(
        () => store.writeEntries(entries),
        () => false,
      ),
    ping: () => store.ping(),
    async close() {
      memory.close()
      await store.close()
    },
  }
}

/** Its reply came too late, and this process counted the batch meanwhile: Redis's count is taken back. */
async function uncountTwice(
  store: FastStore,
  { windows }: PassBatch,
  { granted, countedAtSecond }: PassVerdict,
): Promise<void> {
  if (granted === 0) return
  const names = windows.map(window => window.name)
  await store.uncount(names, granted, countedAtSecond).catch(() => {})
}

/** A negative second marks a count made by this process. */
function markLocal(verdict: PassVerdict): PassVerdict {
  return { ...verdict, countedAtSecond: -verdict.countedAtSecond }
}

function isLocal(second: number): boolean {
  return second < 0
}
