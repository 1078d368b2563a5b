/**
 * Requests that wait until other requests in flight release a part of a budget. They wait in this process, without a lock.
 *
 * When a reservation of their project ends here, the oldest request is tried again, and after it those that still fit. Reservations of other
 * processes are found by a slow poll. Requests are tried in the order of their arrival, and smaller ones may overtake. For the second half of
 * its time a request is not overtaken by younger ones of the same budget, so that a large request is not starved by small ones.
 */

import { ClientDisconnected } from '../errors/errors.ts'
import { onAbort } from '../event-loop/timeouts.ts'
import type { ReservationRejection, ReservationReply, ReservationRequest } from '../postgres/spending.ts'

export interface ReservationQueueOptions {
  /** Tries once to reserve. */
  reserve(ask: ReservationRequest): Promise<ReservationReply>
  /** Releases what was reserved for a request that has left. */
  release(id: string): void
  /** How long a request waits. */
  maxWaitMs: number
}

export interface ReservationQueues {
  /** The refusal of an older request that this one must not overtake; null when it may try to reserve. */
  findOlderRejection(ask: ReservationRequest): ReservationRejection | null
  /** Resolves to the last reply when it is not `reserved`, or the time is up. Rejects with ClientDisconnected once the signal is aborted. */
  wait(ask: ReservationRequest, refusal: ReservationRejection, signal: AbortSignal): Promise<ReservationReply>
  /** Reservations of these projects have ended. */
  retryWaiting(projectIds: readonly number[]): void
}

/** In a project. One more is rejected at once. */
const MAX_WAITING = 200
const FIRST_POLL_MS = 500
const MAX_POLL_MS = 2_000

export function createReservationQueues(options: ReservationQueueOptions): ReservationQueues {
  /** Only those in which requests wait. */
  const queues = new Map<number, ReservationQueue>()

  return {
    findOlderRejection(ask) {
      const queue = queues.get(ask.project_id)
      return queue && !queue.isFull ? queue.findAhead(ask) : null
    },
    async wait(ask, refusal, signal) {
      const queue = queues.get(ask.project_id) ?? new ReservationQueue(options)
      if (queue.isFull) return refusal
      queues.set(ask.project_id, queue)
      try {
        return await queue.wait(ask, refusal, signal)
      } finally {
        if (queue.isEmpty) queues.delete(ask.project_id)
      }
    },
    retryWaiting(projectIds) {
      if (queues.size === 0 || projectIds.length === 0) return
      for (const [id, queue] of queues) if (projectIds.includes(id) || queue.waitsForOthers) queue.wake()
    },
  }
}

interface Waiter {
  readonly ask: ReservationRequest
  readonly sinceMs: number
  refusal: ReservationRejection
  isTrying: boolean
  isExpired: boolean
  resolve(reply: ReservationReply): void
  reject(error: unknown): void
}

/** Of one project. */
class ReservationQueue {
  readonly #options: ReservationQueueOptions
  /** The oldest first. */
  readonly #waiters = new Set<Waiter>()
  #isTrying = false
  #isWoken = false
  #pollMs = FIRST_POLL_MS
  #poll: ReturnType<typeof setTimeout> | undefined

  constructor(options: ReservationQueueOptions) {
    this.#options = options
  }

  get isEmpty(): boolean {
    return this.#waiters.size === 0
  }

  get isFull(): boolean {
    return this.#waiters.size >= MAX_WAITING
  }

  /** Whether other projects may have reserved what is waited for. */
  get waitsForOthers(): boolean {
    return this.#waiters.values().some(({ refusal }) => refusal.scope === 'organization')
  }

  /** `sinceMs`: since when it waits. */
  findAhead(ask: ReservationRequest, sinceMs = performance.now()): ReservationRejection | null {
    const dueMs = performance.now() - this.#options.maxWaitMs / 2
    if (sinceMs <= dueMs) return null
    for (const waiter of this.#waiters) {
      if (waiter.sinceMs > dueMs) return null
      if (isOfSameBudget(waiter, ask)) return waiter.refusal
    }
    return null
  }

  async wait(ask: ReservationRequest, refusal: ReservationRejection, signal: AbortSignal): Promise<ReservationReply> {
    const { promise, resolve, reject } = Promise.withResolvers<ReservationReply>()
    const waiter = {
      ...{ ask, refusal, resolve, reject },
      sinceMs: performance.now(),
      isTrying: false,
      isExpired: false,
    }
    const limit = setTimeout(() => this.#expire(waiter), this.#options.maxWaitMs)
    this.#waiters.add(waiter)
    onAbort(signal, () => {
      this.#waiters.delete(waiter)
      reject(new ClientDisconnected())
    })
    this.#poll ??= setTimeout(() => this.#pollNow(), this.#pollMs)
    try {
      return await promise
    } finally {
      clearTimeout(limit)
      this.#waiters.delete(waiter)
      if (this.isEmpty) this.#stopPolling()
      // Others may have stood behind it.
      else this.wake()
    }
  }

  wake(): void {
    this.#isWoken = true
    if (!this.#isTrying) void this.#tryWhileWoken()
  }

  #expire(waiter: Waiter): void {
    if (waiter.isTrying) waiter.isExpired = true
    else waiter.resolve(waiter.refusal)
  }

  #pollNow(): void {
    this.#pollMs = Math.min(MAX_POLL_MS, this.#pollMs * 2)
    this.#poll = setTimeout(() => this.#pollNow(), this.#pollMs)
    this.wake()
  }

  #stopPolling(): void {
    clearTimeout(this.#poll)
    this.#poll = undefined
  }

  async #tryWhileWoken(): Promise<void> {
    this.#isTrying = true
    while (this.#isWoken) {
      this.#isWoken = false
      await this.#tryInOrder()
    }
    this.#isTrying = false
  }

  /** Asks the database only for those that fit beside what it just told, so that many that wait cost little more than one. */
  async #tryInOrder(): Promise<void> {
    const refusals: { ask: ReservationRequest; refusal: ReservationRejection }[] = []
    for (const waiter of [...this.#waiters]) {
      const isHopeless = refusals.some(known => isTooLittleFor(waiter, known))
      if (isHopeless || !this.#waiters.has(waiter) || this.findAhead(waiter.ask, waiter.sinceMs)) continue
      const refusal = await this.#try(waiter)
      if (refusal) refusals.push({ ask: waiter.ask, refusal })
    }
  }

  /** Returns the refusal where it is reserved by others still. */
  async #try(waiter: Waiter): Promise<ReservationRejection | null> {
    waiter.isTrying = true
    try {
      const reply = await this.#options.reserve(waiter.ask)
      if (!this.#waiters.has(waiter)) {
        if (reply.verdict === 'granted') this.#options.release(waiter.ask.id)
        return null
      }
      if (reply.verdict === 'reserved' && reply.may_wait && !waiter.isExpired) waiter.refusal = reply
      else waiter.resolve(reply)
      return reply.verdict === 'reserved' ? reply : null
    } catch (error) {
      waiter.reject(error)
      return null
    } finally {
      waiter.isTrying = false
    }
  }
}

/** Of the organization's budgets, projects have shares: all that wait in a queue are of the same one. */
function isShareOfKey({ share_limit, scope }: ReservationRejection): boolean {
  return share_limit !== null && scope !== 'organization'
}

/** Whether the budget that an older request waits for is known to apply to this one. */
function isOfSameBudget({ ask: older, refusal }: Waiter, ask: ReservationRequest): boolean {
  if (refusal.scope === 'key' || isShareOfKey(refusal)) return older.key_id === ask.key_id
  if (refusal.scope === 'model') return older.model === ask.model
  return refusal.scope !== 'tag' || older.tags === ask.tags
}

/** Whether the budget has less left than this request needs, as another request was just told. */
function isTooLittleFor(
  waiter: Waiter,
  { ask, refusal }: { ask: ReservationRequest; refusal: ReservationRejection },
): boolean {
  const { budget_id, unit, amount, spent, reserved, share_limit } = refusal
  if (waiter.refusal.budget_id !== budget_id || (isShareOfKey(refusal) && waiter.ask.key_id !== ask.key_id))
    return false
  const left = share_limit === null ? amount - spent - reserved : share_limit - reserved
  return ((unit === 'usd' ? waiter.ask.usd : waiter.ask.tokens) ?? 0) > left
}
