/** Whole server-sent events that arrived together, with and without token usage. */
import { withoutUsage } from './drop-usage.ts'
import { joinBytes } from './join-bytes.ts'

export class EventLump {
  readonly events: readonly Uint8Array[]
  /** As the upstream sent them. */
  readonly bytes: Uint8Array
  #withoutUsage: Uint8Array | null = null

  /** Each event with its bytes, including its closing blank line. */
  constructor(events: readonly Uint8Array[]) {
    this.events = events
    this.bytes = joinBytes(events)
  }

  /** The events without token usage, computed once for all subscribers; empty when they contained nothing else. */
  get withoutUsage(): Uint8Array {
    this.#withoutUsage ??= joinBytes(this.events.map(withoutUsage))
    return this.#withoutUsage
  }
}
