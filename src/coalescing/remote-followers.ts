/** The leader's side across processes: sends the events of calls led here to follower processes. */
import { encodeEntry } from '../cache/entry.ts'
import type { ProcessBus } from '../redis/process-bus.ts'
import { ENDS, encodeMessage, KINDS, type Kind, type Message } from './messages.ts'
import type { Settlement, SharedCall, Subscriber } from './shared-call.ts'

const HEARTBEAT_EVERY_MS = 1_000
/** A follower with this many unread bytes gets no more until it has read some. */
const UNTAKEN_LIMIT_BYTES = 512 * 1024
/** A message that did not arrive is retried for this long: Redis may be restarting. */
const RETRY_FOR_MS = 8_000
const RETRY_EVERY_MS = 100

const NOTHING = new Uint8Array(0)

/** One follower's subscription. */
interface Place {
  subscriber: Subscriber
  untakenBytes: number
  resume: (() => void) | null
}

export class RemoteFollowers {
  readonly #bus: ProcessBus
  readonly #ledCalls = new Map<string, SharedCall>()
  readonly #places = new Map<string, Place>()

  constructor(bus: ProcessBus) {
    this.#bus = bus
  }

  /** Lets other processes follow the call under this id, until it settles. */
  offer(callId: string, call: SharedCall): void {
    this.#ledCalls.set(callId, call)
    void call.settled.then(() => this.#ledCalls.delete(callId))
  }

  /** Handles a message from a follower. */
  receive({ kind, followerId, number, payload }: Message): void {
    if (kind === KINDS.join) {
      const [callId = '', processId = ''] = Buffer.from(payload).toString('latin1').split(' ')
      void this.#serve(callId, followerId, processId)
    } else if (kind === KINDS.leave) this.#leave(followerId)
    else if (kind === KINDS.taken) this.#noteTaken(followerId, number)
  }

  async #serve(callId: string, followerId: string, processId: string): Promise<void> {
    const send = (kind: Kind, payload?: Uint8Array, number = 0) =>
      this.#send(processId, encodeMessage({ kind, followerId, number, ...(payload && { payload }) }))
    const call = this.#ledCalls.get(callId)
    const subscriber = call?.subscribe(true)
    if (!call || !subscriber) {
      await send(KINDS.notShareable)
      return
    }
    const place: Place = { subscriber, untakenBytes: 0, resume: null }
    this.#places.set(followerId, place)
    const heartbeat = setInterval(
      () => void this.#bus.send(processId, encodeMessage({ kind: KINDS.heartbeat, followerId })).catch(() => {}),
      HEARTBEAT_EVERY_MS,
    )
    try {
      await send(KINDS.heartbeat)
      if ((await call.started) === 'stream' && this.#places.has(followerId)) {
        await send(KINDS.streamStarted)
        await this.#relay(followerId, place, (payload, number) => send(KINDS.events, payload, number))
      }
      const settlement = await call.settled
      if (this.#places.has(followerId)) await send(...closing(settlement))
    } catch {
      await send(KINDS.notShareable)
    } finally {
      clearInterval(heartbeat)
      this.#leave(followerId)
    }
  }

  async #relay(
    followerId: string,
    place: Place,
    send: (payload: Uint8Array, number: number) => Promise<boolean>,
  ): Promise<void> {
    for (let number = 0; this.#places.has(followerId); number++) {
      const lump = await place.subscriber.read()
      if (!lump) return
      place.untakenBytes += lump.bytes.length
      if (!(await send(lump.bytes, number))) this.#leave(followerId)
      while (place.untakenBytes >= UNTAKEN_LIMIT_BYTES && this.#places.has(followerId)) {
        await new Promise<void>(resolve => {
          place.resume = resolve
        })
      }
    }
  }

  /** Resolves to whether the follower's process received it. */
  async #send(processId: string, message: Uint8Array): Promise<boolean> {
    for (const deadlineMs = performance.now() + RETRY_FOR_MS; ; await Bun.sleep(RETRY_EVERY_MS)) {
      if (await this.#bus.send(processId, message).catch(() => false)) return true
      if (performance.now() > deadlineMs) return false
    }
  }

  #noteTaken(followerId: string, bytes: number): void {
    const place = this.#places.get(followerId)
    if (!place) return
    place.untakenBytes -= bytes
    place.resume?.()
    place.resume = null
  }

  #leave(followerId: string): void {
    const place = this.#places.get(followerId)
    if (!place) return
    this.#places.delete(followerId)
    place.subscriber.leave()
    place.resume?.()
  }
}

/**
 * The last message, for a stream that did not break off. It carries no cached entry, which the other process reads itself, and no
 * failure, which it can try again itself.
 */
function closing(settlement: Settlement): [kind: Kind, payload?: Uint8Array, number?: number] {
  if (settlement.kind === 'complete') return [KINDS.complete, encodeEntry(settlement.entry)]
  const hasFailed = settlement.kind === 'notShareable' && settlement.failure !== null
  return [KINDS.notShareable, NOTHING, hasFailed ? ENDS.failureDelivered : ENDS.delivered]
}
