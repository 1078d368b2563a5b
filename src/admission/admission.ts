/** Who may pass: key, rate windows, monthly quota, in that order of refusal. */
import type { AdmitRow } from '../postgres/admit.ts'
import {
  addressWindowName,
  type FastStore,
  keyWindowName,
  strangerWindowName,
  type Window,
} from '../stores/fast-store.ts'
import { disabledKey, invalidKey } from './api-key.ts'
import { createRateWindows, type PassReply } from './rate-windows.ts'
import { monthlyQuotaExceeded, rateLimitExceeded } from './refusals.ts'
import type { Reservation, Reservations } from './reservations.ts'

/** Most requests a minute from one address with keys that turn out not to exist: guessing must not cost database calls. */
const STRANGER_REQUESTS_PER_MINUTE = 120
/** Keys whose last known limits are remembered. They are a guess to be checked, never a verdict. */
const MAX_REMEMBERED_KEYS = 100_000

export interface Admitted {
  /** Key, project, settings: as the database had them when the request was counted. */
  account: AdmitRow
  /** The exact entry, where one was asked for and found. */
  entry: Uint8Array | null
  /** Gives the request back to the month's quota; for requests that were refused later or failed. Once. */
  refund(): void
}

/** What the caller does on the strength of the key as last known, before the database has confirmed it. */
export interface Foresight {
  /** Names the exact entry to read on the way, or null. */
  entryOf(account: AdmitRow): string | null
  /** Called while windows and month are asked at once: the request is all but sure to pass, and what it needs next can begin. */
  meanwhile(): void
}

export interface Admission {
  /** Validates a key without counting a request. */
  identify(keyHash: string, address: string): Promise<AdmitRow>
  /**
   * Validates the key and counts the request, or throws 401, 403, 429 or 503 having counted nothing.
   * `foresight` may be called again, from its beginning, when settings turn out to have changed.
   */
  admit(keyHash: string, address: string, foresight: Foresight): Promise<Admitted>
}

/** What is known of windows between two answers. */
interface Room {
  /** Requests that are all but sure to pass, those that are asking taken for counted. */
  left: number
  /** Requests whose answer is to come. */
  asking: number
}

export function createAdmission(store: FastStore, reservations: Reservations): Admission {
  const passWindows = createRateWindows(store)
  const remembered = new Map<string, AdmitRow>()
  const roomOf = new WeakMap<readonly Window[], Room>()
  const identifying = new Map<string, Promise<AdmitRow>>()

  function remember(keyHash: string, account: AdmitRow): void {
    if (!remembered.has(keyHash) && remembered.size >= MAX_REMEMBERED_KEYS) {
      const oldest = remembered.keys().next()
      if (!oldest.done) remembered.delete(oldest.value)
    }
    remembered.set(keyHash, account)
  }

  async function validate(keyHash: string): Promise<AdmitRow> {
    const account = await reservations.validate(keyHash)
    if (account.verdict === 'unknown') remembered.delete(keyHash)
    else remember(keyHash, account)
    return account
  }

  async function validateStranger(keyHash: string, address: string): Promise<AdmitRow> {
    const strangers = { name: strangerWindowName(address), limit: STRANGER_REQUESTS_PER_MINUTE }
    const guess = await store.pass({ requests: 1, windows: [strangers], entries: [] })
    if (guess.granted === 0) throw rateLimitExceeded(STRANGER_REQUESTS_PER_MINUTE, guess.waitMs)
    const account = await validate(keyHash)
    if (account.verdict !== 'unknown') await store.uncount([strangers.name], 1, guess.countedAtSecond)
    return account
  }

  /** The key as last known, or as the database has it; requests that arrive meanwhile with the same new key share the question. */
  function recall(keyHash: string, address: string): AdmitRow | Promise<AdmitRow> {
    const known = remembered.get(keyHash)
    if (known) return known
    const asked =
      identifying.get(keyHash) ?? validateStranger(keyHash, address).finally(() => identifying.delete(keyHash))
    identifying.set(keyHash, asked)
    return asked
  }

  async function identify(keyHash: string, address: string): Promise<AdmitRow> {
    const account = remembered.has(keyHash) ? await validate(keyHash) : await recall(keyHash, address)
    refuseInactive(account)
    return account
  }

  /**
   * Asks the windows and the month: at once where there was room last time, else one after the other, so that whoever keeps
   * knocking, or comes with a crowd, costs the month's counter nothing. No reservation: the windows are full.
   */
  async function ask(keyHash: string, windows: readonly Window[], entry: string | null, meanwhile: () => void) {
    const room = findRoom(windows)
    const early = room.left > 0 ? reservations.reserve(keyHash) : null
    room.left--
    room.asking++
    // Heard below, or of no interest.
    early?.catch(() => {})
    const passing = passWindows({ windows, entry })
    // Behind the batches, which are sent when all that was readable has been read.
    const soon = early ? setImmediate(meanwhile) : null
    try {
      const pass = await passing.catch(async error => {
        room.asking--
        await giveBack(early).catch(() => {})
        throw error
      })
      room.asking--
      room.left = pass.room - room.asking
      if (!pass.passed) {
        await giveBack(early)
        return { pass, reservation: null }
      }
      const reservation = await (early ?? reservations.reserve(keyHash)).catch(async error => {
        await uncount(windows, pass)
        throw error
      })
      // Whoever keeps asking although the month is used up is to cost no more than that.
      if (!reservation.reserved) room.left = 0
      return { pass, reservation }
    } finally {
      if (soon) clearImmediate(soon)
    }
  }

  function findRoom(windows: readonly Window[]): Room {
    let room = roomOf.get(windows)
    if (!room) {
      room = { left: 0, asking: 0 }
      roomOf.set(windows, room)
    }
    return room
  }

  async function giveBack(reserving: Promise<Reservation> | null): Promise<void> {
    const reservation = await reserving
    if (reservation?.reserved) reservations.refund(reservation.row)
  }

  function uncount(windows: readonly Window[], pass: PassReply): Promise<void> {
    const names = windows.map(window => window.name)
    return store.uncount(names, 1, pass.countedAtSecond)
  }

  async function admit(keyHash: string, address: string, foresight: Foresight): Promise<Admitted> {
    let account = await recall(keyHash, address)
    for (;;) {
      refuseInactiveUnlessStale(account)
      const windows = windowsOf(account, address)
      const entry = account.verdict === 'active' ? foresight.entryOf(account) : null
      const { pass, reservation } = await ask(keyHash, windows, entry, foresight.meanwhile)
      if (!reservation) {
        const current = await identify(keyHash, address)
        if (sameAsGuessed(account, current)) throw refusal(pass)
        account = current
        continue
      }
      const { row: current, reserved } = reservation
      if (reserved && sameAsGuessed(account, current)) {
        return { account: current, entry: pass.entry, refund: () => reservations.refund(current) }
      }
      await uncount(windows, pass)
      if (reserved) reservations.refund(current)
      if (current.verdict === 'unknown') remembered.delete(keyHash)
      else remember(keyHash, current)
      refuseInactive(current)
      if (!reserved) throw monthlyQuotaExceeded()
      account = current
    }
  }

  return { identify, admit }
}

/** 401 or 403 for a key that may not pass. */
function refuseInactive(account: AdmitRow): void {
  if (account.verdict === 'disabled') throw disabledKey()
  if (account.verdict !== 'active') throw invalidKey()
}

/** A key that never existed is refused at once; any other verdict may have changed, and is asked for again with the reservation. */
function refuseInactiveUnlessStale(account: AdmitRow): void {
  if (account.verdict === 'unknown') throw invalidKey()
}

/** Addresses whose windows are kept at hand for each account. */
const MAX_ADDRESSES = 1_000
const windowsByAccount = new WeakMap<AdmitRow, Map<string, readonly Window[]>>()

/** The same account and address get the same array: requests that share it are told by its identity. */
function windowsOf(account: AdmitRow, address: string): readonly Window[] {
  let byAddress = windowsByAccount.get(account)
  if (!byAddress || byAddress.size > MAX_ADDRESSES) {
    byAddress = new Map()
    windowsByAccount.set(account, byAddress)
  }
  let windows = byAddress.get(address)
  if (!windows) {
    windows = [
      { name: keyWindowName(account.project_id, account.key_id), limit: account.requests_per_minute },
      { name: addressWindowName(account.project_id, address), limit: account.requests_per_minute_per_address },
    ]
    byAddress.set(address, windows)
  }
  return windows
}

/** Whether what was done on the strength of the remembered row still holds. */
function sameAsGuessed(guessed: AdmitRow, current: AdmitRow): boolean {
  return (
    guessed.verdict === current.verdict &&
    guessed.requests_per_minute === current.requests_per_minute &&
    guessed.requests_per_minute_per_address === current.requests_per_minute_per_address &&
    guessed.semantic_enabled === current.semantic_enabled &&
    guessed.semantic_guards === current.semantic_guards &&
    guessed.semantic_threshold === current.semantic_threshold &&
    guessed.cache_generation === current.cache_generation &&
    guessed.provider_keys_version === current.provider_keys_version &&
    guessed.direct_providers.join() === current.direct_providers.join()
  )
}

function refusal(pass: PassReply) {
  return rateLimitExceeded(pass.fullWindow?.limit ?? 0, pass.waitMs)
}
