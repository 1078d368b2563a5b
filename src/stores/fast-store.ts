/** The interface of Redis and its in-process substitute. They store rate windows, exact entries and vectors. */
import { isIP } from 'node:net'

/** Requests with the same windows, counted in one call. */
export interface CountBatch {
  /** Number of requests to count; in a token window, number of tokens. */
  requests: number
  /** True to count all of them or none. */
  isAllOrNothing?: boolean
  windows: readonly RateWindow[]
  /** Names of the exact entries to read, from `entryName`. */
  entries: readonly string[]
  /** The expected time of the store's clock. Another time means that the clock has stepped. */
  second?: number
}

export interface RateWindow {
  /** From `keyWindowName` and the other name functions; all windows and entries of a batch share one hash tag. */
  name: string
  /** Maximum requests in any 60 seconds. */
  limit: number
  /** The caller's last copy of the window, from which a store that lost the window restores it. Null without a copy. */
  lastSeen?: Uint8Array | null
  /** Requests that were granted while the store was unavailable, to be counted now. */
  unreported?: number
}

/** Returns how many requests of the batch are granted, given the remaining capacity of each window. */
export function computeGranted(
  { requests, isAllOrNothing = false }: CountBatch,
  capacities: readonly number[],
): number {
  const granted = Math.max(0, Math.min(requests, ...capacities))
  return isAllOrNothing && granted < requests ? 0 : granted
}

/** Tells `uncount` where and when requests were counted. */
export interface CountReceipt {
  /** The second by the store's clock. */
  second: number
  /** False when this process counted them while the store was unavailable. */
  isInStore: boolean
}

export interface CountResult {
  /** Number of requests that were counted. The others are rejected. */
  granted: number
  receipt: CountReceipt
  /** Milliseconds until one more request, or an all-or-nothing batch, could be granted. 0 when all were granted. */
  waitMs: number
  /** Number of requests in each window after the call. */
  totals: readonly number[]
  /** Bytes of each requested entry, in order; null for a missing one. */
  entries: readonly (Uint8Array | null)[]
  /** Each window after the call, for `lastSeen` of the next call; see sliding-window.ts. Absent if the store cannot lose windows. */
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
  /** Returns the server that has the name, if there are several, each of which may fail separately. */
  shardOf?(name: string): string
  /** Checks and counts all windows of the batch, or none, and reads its entries. Rejects when the store is unavailable. */
  count(batch: CountBatch): Promise<CountResult>
  /** Removes requests that `count` counted and that were rejected later. */
  uncount(windowNames: readonly string[], requests: number, receipt: CountReceipt): Promise<void>
  /** Resolves to true when the entry was written. */
  writeEntry(name: string, bytes: Uint8Array, ttlMs: number): Promise<boolean>
  deleteEntry(name: string): Promise<void>
  /** Resolves to the bytes of each entry, in order; null for a missing one. All names belong to one project. */
  readEntries(names: readonly string[]): Promise<(Uint8Array | null)[]>
  /** Resolves to true when all entries were written. */
  writeEntries(entries: readonly EntryWrite[]): Promise<boolean>
  /** Number of entries and messages with an invalid signature since process start, if the store signs entries. */
  invalidSignatures?(): number
  /** Resolves when the store accepts a write. Rejects when it does not. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** Length of a rate window plus the current second; see windows.lua. */
export const WINDOW_SECONDS = 61

// These names are unique within an installation. A shared store adds the installation's prefix.

export function keyWindowName(projectId: number, keyId: number): string {
  return `{${projectId}}:k:${keyId}`
}

/** Name of the window that counts the key's tokens. */
export function tokenWindowName(projectId: number, keyId: number): string {
  return `{${projectId}}:t:${keyId}`
}

export function addressWindowName(projectId: number, address: string): string {
  return `{${projectId}}:a:${addressPrefix(address)}`
}

/** Name of the window that counts an address's requests with unknown keys. */
export function unknownKeyWindowName(address: string): string {
  return `{u:${addressPrefix(address)}}`
}

/** Returns the address by which limits count: an IPv4 address itself, or an IPv6 address's /64, which usually belongs to one customer. */
export function addressPrefix(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const groups = head === '' ? [] : head.split(':')
  // The :: stands for the missing zero groups. The tail matters only if it reaches into the first four groups.
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
 * Name of an exact entry. A new generation hides all entries of the previous one. Signed entries have a capital letter; the unsigned ones
 * of the previous release have a small letter.
 */
export function entryName(projectId: number, generation: number, requestHash: string): string {
  return `{${projectId}}:E:${generation}:${requestHash}`
}

/** Name of a vector. It is short, because many are read at once, and the name's size matters beside a small vector's. */
export function vectorEntryName(projectId: number, generation: number, vectorName: string): string {
  return `{${projectId}}:V:${generation}:${Buffer.from(vectorName, 'hex').toString('base64url')}`
}

/** Name under which identical requests share a call. The lease between processes has the same name. */
export function sharedCallName(projectId: number, generation: number, request: string): string {
  return `{${projectId}}:f:${generation}:${request}`
}

/** The first bytes of an alias, as `encodeAlias` writes it. */
const ALIAS = Buffer.from('[3,"')

/** Returns the target name of an alias whose line begins at byte `at`. Null for other entries. windows.lua reads the same format. */
export function readAliasTarget(bytes: Uint8Array, at: number): string | null {
  // Most entries are not aliases, and this check is cheaper than a buffer.
  if (bytes[at + 1] !== ALIAS[1]) return null
  const stored = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const nameAt = at + ALIAS.length
  if (!stored.subarray(at, nameAt).equals(ALIAS)) return null
  return stored.toString('latin1', nameAt, stored.indexOf('"', nameAt))
}
