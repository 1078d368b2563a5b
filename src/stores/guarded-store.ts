/**
 * The fast store that never fails a request. While Redis is out of reach entries are missed, and windows are kept by this process,
 * from what it had seen of them; when Redis is back, whatever it does not know of them it is told.
 */
import type { FastStore, PassBatch, PassVerdict } from './fast-store.ts'
import { type OnStoreChange, StoreGuard } from './store-guard.ts'
import { WindowMemory } from './window-memory.ts'

export interface GuardedStore extends FastStore {
  /** Whether the store answered last time it was tried. */
  isUp(): boolean
}

export interface GuardOptions {
  /** How many processes share the store: while it is away, each lets its share of every limit through. */
  processes?: number
  onChange?: OnStoreChange
}

export function guardStore(store: FastStore, { processes = 1, onChange }: GuardOptions = {}): GuardedStore {
  const memory = new WindowMemory(processes)
  const guard = new StoreGuard(onChange)

  /** What Redis was told is noted also where its answer comes too late for the request. */
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

  /** A batch whose answer came too late was counted by this process meanwhile. */
  async function uncountTwice({ windows }: PassBatch, { granted, countedAtSecond }: PassVerdict): Promise<void> {
    if (granted === 0) return
    const names = windows.map(window => window.name)
    await store.uncount(names, granted, countedAtSecond).catch(() => {})
  }

  const nothing = () => {}
  return {
    kind: store.kind,
    isUp: () => guard.isUp,
    pass(batch: PassBatch): Promise<PassVerdict> {
      let isCountedHere = false
      async function attempt(): Promise<PassVerdict> {
        const verdict = await passInStore(batch)
        if (isCountedHere) await uncountTwice(batch, verdict)
        return verdict
      }
      return guard.try(attempt, () => {
        isCountedHere = true
        return markLocal(memory.passAlone(batch))
      })
    },
    // Back to where it was counted, even if the other store has taken over since.
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

/** A second in which this process itself counted is told by its sign. */
function markLocal(verdict: PassVerdict): PassVerdict {
  return { ...verdict, countedAtSecond: -verdict.countedAtSecond }
}

function isLocal(second: number): boolean {
  return second < 0
}
