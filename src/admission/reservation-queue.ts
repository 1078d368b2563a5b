/**
 * Requests that wait until other requests in flight release a part of a budget. They wait in this process, without a lock.
 *
 * When a reservation of the project ends in this process, the oldest request is retried, then those that still fit. Polling detects
 * reservations that end in other processes. Requests are retried in order of arrival, and smaller ones may overtake larger ones. In the
 * second half of its wait, a request is not overtaken by younger ones of the same budget, so that small requests cannot starve it.
 */

import { ClientDisconnected } from '../errors/errors.ts'
import { onAbort } from '../event-loop/timeouts.ts'
import type { ReservationRejection, ReservationReply, ReservationRequest } from '../postgres/spending.ts'

export interface ReservationQueueOptions {
  /** Makes one attempt to reserve. */
  reserve(request: ReservationRequest): Promise<ReservationReply>
  /** Releases the reservation of a request whose client has disconnected. */
  release(id: string): void
  /** Longest time a request waits. */
  maxWaitMs: number
}

/** Waiting requests per project. Further ones are rejected at once. */
const MAX_WAITING = 200
const FIRST_POLL_MS = 500
const MAX_POLL_MS = 2_000

export function createReservationQueues(options: ReservationQueueOptions) {
  /** The non-empty queues, by project id. */
  const queues = new Map<number, ReservationQueue>()

  return {
    /** Returns the rejection of an older request that this one must not overtake. Null when it may try to reserve. */
    findOlderRejection(request: ReservationRequest): ReservationRejection | null {
      const queue = queues.get(request.project_id)
      return queue && !queue.isFull ? queue.findOlderRejection(request) : null
    },
    /** Resolves to the first reply that is not `reserved`, or to the last one at `maxWaitMs`. Rejects with ClientDisconnected when the signal is aborted. */
    async wait(
      request: ReservationRequest,
      rejection: ReservationRejection,
      signal: AbortSignal,
    ): Promise<ReservationReply> {
      const queue = queues.get(request.project_id) ?? new ReservationQueue(options)
      if (queue.isFull) return rejection
      queues.set(request.project_id, queue)
      try {
        return await queue.wait(request, rejection, signal)
      } finally {
        if (queue.isEmpty) queues.delete(request.project_id)
      }
    },
    /** Retries the waiting requests of these projects, whose reservations have ended. */
    retryWaiting(projectIds: readonly number[]): void {
      if (queues.size === 0 || projectIds.length === 0) return
      for (const [id, queue] of queues) if (projectIds.includes(id) || queue.waitsForOrganization) queue.retry()
    },
  }
}

interface Waiter {
  readonly request: ReservationRequest
  readonly sinceMs: number
  rejection: ReservationRejection
  isReserving: boolean
  isExpired: boolean
  resolve(reply: ReservationReply): void
  reject(error: unknown): void
}

/** The queue of one project. */
class ReservationQueue {
  readonly #options: ReservationQueueOptions
  /** Oldest first. */
  readonly #waiters = new Set<Waiter>()
  #isRetrying = false
  #hasChanged = false
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

  /** True when a request waits for an organization budget, which other projects may have reserved. */
  get waitsForOrganization(): boolean {
    return this.#waiters.values().some(({ rejection }) => rejection.scope === 'organization')
  }

  /** Returns the rejection of an older request that this one, which waits since `sinceMs`, must not overtake. */
  findOlderRejection(request: ReservationRequest, sinceMs = performance.now()): ReservationRejection | null {
    const dueMs = performance.now() - this.#options.maxWaitMs / 2
    if (sinceMs <= dueMs) return null
    for (const waiter of this.#waiters) {
      if (waiter.sinceMs > dueMs) return null
      if (isSameBudget(waiter, request)) return waiter.rejection
    }
    return null
  }

  async wait(
    request: ReservationRequest,
    rejection: ReservationRejection,
    signal: AbortSignal,
  ): Promise<ReservationReply> {
    const { promise, resolve, reject } = Promise.withResolvers<ReservationReply>()
    const waiter = {
      ...{ request, rejection, resolve, reject },
      sinceMs: performance.now(),
      isReserving: false,
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
      // Requests that could not overtake it may fit now.
      else this.retry()
    }
  }

  retry(): void {
    this.#hasChanged = true
    if (!this.#isRetrying) void this.#retryUntilIdle()
  }

  #expire(waiter: Waiter): void {
    if (waiter.isReserving) waiter.isExpired = true
    else waiter.resolve(waiter.rejection)
  }

  #pollNow(): void {
    this.#pollMs = Math.min(MAX_POLL_MS, this.#pollMs * 2)
    this.#poll = setTimeout(() => this.#pollNow(), this.#pollMs)
    this.retry()
  }

  #stopPolling(): void {
    clearTimeout(this.#poll)
    this.#poll = undefined
  }

  async #retryUntilIdle(): Promise<void> {
    this.#isRetrying = true
    while (this.#hasChanged) {
      this.#hasChanged = false
      await this.#retryInOrder()
    }
    this.#isRetrying = false
  }

  /** Skips requests that cannot fit by the replies of this pass, so that many waiting requests cost little more than one. */
  async #retryInOrder(): Promise<void> {
    const rejections: { request: ReservationRequest; rejection: ReservationRejection }[] = []
    for (const waiter of [...this.#waiters]) {
      const cannotFit = rejections.some(known => isBudgetTooSmall(waiter, known))
      if (cannotFit || !this.#waiters.has(waiter) || this.findOlderRejection(waiter.request, waiter.sinceMs)) continue
      const rejection = await this.#try(waiter)
      if (rejection) rejections.push({ request: waiter.request, rejection })
    }
  }

  /** Returns the rejection if other requests still hold the budget. */
  async #try(waiter: Waiter): Promise<ReservationRejection | null> {
    waiter.isReserving = true
    try {
      const reply = await this.#options.reserve(waiter.request)
      if (!this.#waiters.has(waiter)) {
        if (reply.verdict === 'granted') this.#options.release(waiter.request.id)
        return null
      }
      if (reply.verdict === 'reserved' && reply.may_wait && !waiter.isExpired) waiter.rejection = reply
      else waiter.resolve(reply)
      return reply.verdict === 'reserved' ? reply : null
    } catch (error) {
      waiter.reject(error)
      return null
    } finally {
      waiter.isReserving = false
    }
  }
}

/** Returns whether the limit is a key's share. In an organization's budgets, projects have shares, and a queue belongs to one project. */
function isShareOfKey({ share_limit, scope }: ReservationRejection): boolean {
  return share_limit !== null && scope !== 'organization'
}

/** The amount in the unit of the budget that rejects; 0 for a request that is free or has no price. */
const amountIn = ({ unit }: ReservationRejection, { usd, tokens }: ReservationRequest) =>
  (unit === 'usd' ? usd : tokens) ?? 0

/** Returns whether the budget that an older request waits for also applies to this one. A free request takes nothing of it. */
function isSameBudget({ request: older, rejection }: Waiter, request: ReservationRequest): boolean {
  if (amountIn(rejection, request) === 0) return false
  if (rejection.scope === 'key' || isShareOfKey(rejection)) return older.key_id === request.key_id
  if (rejection.scope === 'model') return older.model === request.model
  return rejection.scope !== 'tag' || older.tags === request.tags
}

/** Returns whether, by another request's rejection, the budget has less left than this request needs. */
function isBudgetTooSmall(
  waiter: Waiter,
  { request, rejection }: { request: ReservationRequest; rejection: ReservationRejection },
): boolean {
  const { budget_id, amount, spent, reserved, share_limit } = rejection
  if (waiter.rejection.budget_id !== budget_id || (isShareOfKey(rejection) && waiter.request.key_id !== request.key_id))
    return false
  const left = share_limit === null ? amount - spent - reserved : share_limit - reserved
  return amountIn(rejection, waiter.request) > left
}
