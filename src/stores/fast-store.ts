/** The interface of Redis and its in-process substitute: rate windows, exact entries and vectors, nothing else. */
import { isIP } from 'node:net'

/** Requests with the same windows, counted in one call. */
export interface CountBatch {
  /** Number of requests that ask to be counted; in a window of tokens, of tokens. */
  requests: number
  /** Whether all of them are to be counted, or none. */
  isAllOrNothing?: boolean
  windows: readonly RateWindow[]
  /** Names of the exact entries to read, from `entryName`. */
  entries: readonly string[]
  /** What the store's clock should show now; another time tells that it has stepped. */
  second?: number
}

export interface RateWindow {
  /** From `keyWindowName` and the other name functions; all windows and entries of a batch share one hash tag. */
  name: string
  /** Most requests in any 60 seconds. */
  limit: number
  /** The window as the caller last saw it, so that a store that lost it can restore it; null when the caller has not seen it. */
  lastSeen?: Uint8Array | null
  /** Requests that passed while the store was out of reach, to be counted now. */
  unreported?: number
}

/** How many of the batch are granted where there is room for so many. */
export function computeGranted({ requests, isAllOrNothing = false }: CountBatch, rooms: readonly number[]): number {
  const granted = Math.max(0, Math.min(requests, ...rooms))
  return isAllOrNothing && granted < requests ? 0 : granted
}

/** Where and when requests were counted: there they are taken back. */
export interface CountReceipt {
  /** By the store's clock. */
  second: number
  /** False where this process counted them while the store was out of reach. */
  isInStore: boolean
}

export interface CountResult {
  /** How many of the batch there was room for; the others are not counted. */
  granted: number
  receipt: CountReceipt
  /** Time until one more could pass, or a whole batch, when some may not; else 0. */
  waitMs: number
  /** Requests now in each window. */
  totals: readonly number[]
  /** Each entry's bytes, or null; in the order asked for. */
  entries: readonly (Uint8Array | null)[]
  /** Each window as it is now, to be remembered: see sliding-window.ts. Absent from a store that cannot lose windows. */
  windows?: readonly Uint8Array[]
}

/** One entry of a batched write. */
export interface EntryWrite {
  /** From `vectorEntryName`. */
  name: string
  bytes: Uint8Array
  ttlMs: number
}

export interface FastStore {
  readonly kind: 'redis' | 'in-process'
  /** Which server has the name, where there are several: each may be lost without the others. */
  shardOf?(name: string): string
  /** Checks and counts all windows of the batch, or none, and reads its entries. Rejects when the store is out of reach. */
  count(batch: CountBatch): Promise<CountResult>
  /** Takes back requests that `count` counted and that were refused later. */
  uncount(windowNames: readonly string[], requests: number, countedAt: CountReceipt): Promise<void>
  /** Resolves to whether it was written. */
  writeEntry(name: string, bytes: Uint8Array, ttlMs: number): Promise<boolean>
  deleteEntry(name: string): Promise<void>
  /** Reads entries that `writeEntries` wrote: bytes or null, in the order asked for. All names belong to one project. */
  readEntries(names: readonly string[]): Promise<(Uint8Array | null)[]>
  /** Resolves to whether they were written. */
  writeEntries(entries: readonly EntryWrite[]): Promise<boolean>
  /** Entries and messages with a wrong integrity tag since the start, if the store uses tags. */
  invalidSignatures?(): number
  /** Resolves when the store takes a write, rejects when it does not. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** Length of a rate window, plus the current second: see windows.lua. */
export const WINDOW_SECONDS = 61

// These names are unique per project. A store that installations share adds each installation's prefix.

export function keyWindowName(projectId: number, keyId: number): string {
  return `{${projectId}}:k:${keyId}`
}

/** Counts tokens. */
export function tokenWindowName(projectId: number, keyId: number): string {
  return `{${projectId}}:t:${keyId}`
}

export function addressWindowName(projectId: number, address: string): string {
  return `{${projectId}}:a:${addressPrefix(address)}`
}

/** Window of an address's requests with unknown keys. */
export function unknownKeyWindowName(address: string): string {
  return `{u:${addressPrefix(address)}}`
}

/** The address that limits count by: an IPv4 address itself, or an IPv6 address's /64, all of which one customer has. */
export function addressPrefix(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const groups = head === '' ? [] : head.split(':')
  // The :: stands for the missing zeros; the tail matters only if it reaches into the first half.
  if (tail !== undefined) {
    const rest = tail === '' ? [] : tail.split(':')
    const restLength = rest.length + (rest.at(-1)?.includes('.') ? 1 : 0)
    while (groups.length + restLength < 8) groups.push('0')
    groups.push(...rest)
  }
  const network = groups.slice(0, 4).map(group => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/64`
}

/**
 * A new generation hides everything cached under the old one. The capital letter sets tagged entries apart from untagged ones, which the
 * previous release still writes, with a small letter.
 */
export function entryName(projectId: number, generation: number, requestHash: string): string {
  return `{${projectId}}:E:${generation}:${requestHash}`
}

/** Short, because many are read at once and each name takes as much memory as a good part of a small vector. */
export function vectorEntryName(projectId: number, generation: number, vectorName: string): string {
  return `{${projectId}}:V:${generation}:${Buffer.from(vectorName, 'hex').toString('base64url')}`
}

/** The name under which identical requests share a call; also the name of the lease between processes. */
export function sharedCallName(projectId: number, generation: number, request: string): string {
  return `{${projectId}}:f:${generation}:${request}`
}

/** How `encodeAlias` begins one. */
const ALIAS = Buffer.from('[3,"')

/** If the entry is an alias, returns the name that it points to; its line begins at byte `at`. windows.lua reads the same format. */
export function readAliasTarget(bytes: Uint8Array, at: number): string | null {
  // Nearly all entries are none, and a buffer costs more than a look.
  if (bytes[at + 1] !== ALIAS[1]) return null
  const stored = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const nameAt = at + ALIAS.length
  if (!stored.subarray(at, nameAt).equals(ALIAS)) return null
  return stored.toString('latin1', nameAt, stored.indexOf('"', nameAt))
}
