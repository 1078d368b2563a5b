/** What Redis, or the in-process store in its place, does for requests: rate windows, exact entries and vectors, nothing else. */

/** One batch of requests that share their windows. */
export interface PassBatch {
  /** Requests that ask to pass. */
  requests: number
  windows: readonly Window[]
  /** Names of the exact entries to read, as `entryName` makes them. */
  entries: readonly string[]
}

export interface Window {
  /** As `keyWindowName` and its kin make it; all windows and entries of a batch share one hash tag. */
  name: string
  /** Most requests in any 60 seconds. */
  limit: number
  /** As the caller last saw it, so that a store that has lost it gets it back; null where the caller has not seen it. */
  remembered?: Uint8Array | null
  /** Requests that passed while the store was out of reach, and that it is to count now. */
  missed?: number
}

export interface PassVerdict {
  /** How many of the batch may pass; the others consumed nothing. */
  granted: number
  /** The second, on the store's clock, that they were counted in. */
  countedAtSecond: number
  /** Until one more could pass, when some may not; else 0. */
  waitMs: number
  /** Requests now in each window. */
  totals: readonly number[]
  /** Each entry's bytes, or null; in the order asked. */
  entries: readonly (Uint8Array | null)[]
  /** Each window as it is now, to be remembered: see sliding-window.ts. None from a store that cannot lose them. */
  windows?: readonly Uint8Array[]
}

/** An entry of a batch that is written at once. */
export interface EntryToWrite {
  /** As `vectorEntryName` makes it. */
  name: string
  bytes: Uint8Array
  ttlMs: number
}

export interface FastStore {
  readonly kind: 'redis' | 'in-process'
  /** Checks and counts all windows of the batch, or none, and reads its entries. Rejects when the store is out of reach. */
  pass(batch: PassBatch): Promise<PassVerdict>
  /** Takes back requests that were counted by `pass` and refused later. */
  uncount(windowNames: readonly string[], requests: number, countedAtSecond: number): Promise<void>
  writeEntry(name: string, bytes: Uint8Array, ttlMs: number): Promise<void>
  deleteEntry(name: string): Promise<void>
  /** The bytes of entries that `writeEntries` wrote, or null, in the order asked. All names belong to one project. */
  readEntries(names: readonly string[]): Promise<(Uint8Array | null)[]>
  /** Resolves with whether they were written. */
  writeEntries(entries: readonly EntryToWrite[]): Promise<boolean>
  /** How many entries and messages had a wrong integrity tag since the start, where they carry any. */
  wrongTags?(): number
  /** Resolves when the store takes a write, rejects when it does not. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** Length of a rate window, plus the second that is under way: see windows.lua. */
export const WINDOW_SECONDS = 61

// Names below are told apart by project; a store that installations share puts each one's own name in front.

export function keyWindowName(projectId: number, keyId: number): string {
  return `{${projectId}}:k:${keyId}`
}

export function addressWindowName(projectId: number, address: string): string {
  return `{${projectId}}:a:${address}`
}

/** Counts an address's requests with keys that turned out not to exist. */
export function unknownKeyWindowName(address: string): string {
  return `{u:${address}}`
}

/**
 * A new generation makes all that was cached under the old one unfindable. Capitals: entries of before there were tags, which the
 * release before goes on writing beside this one, have small letters.
 */
export function entryName(projectId: number, generation: number, requestHash: string): string {
  return `{${projectId}}:E:${generation}:${requestHash}`
}

/** Many of them are read at once: short names, for each takes as much memory as a good part of a small vector. */
export function vectorEntryName(projectId: number, generation: number, vectorName: string): string {
  return `{${projectId}}:V:${generation}:${Buffer.from(vectorName, 'hex').toString('base64url')}`
}

/** Under which identical requests share a call, and processes take its lease. */
export function callName(projectId: number, generation: number, request: string): string {
  return `{${projectId}}:f:${generation}:${request}`
}

const ALIAS = Buffer.from('[2,"')

/** The name that an entry leads to, if it is an alias, whose line begins `at` that byte; as windows.lua reads it. */
export function aliasTarget(bytes: Uint8Array, at: number): string | null {
  const stored = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const nameAt = at + ALIAS.length
  if (!stored.subarray(at, nameAt).equals(ALIAS)) return null
  return stored.toString('latin1', nameAt, stored.indexOf('"', nameAt))
}
