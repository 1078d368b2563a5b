/** Complete server-sent events that arrived together, with and without usage, which not every client asks for. */
import { withoutUsage } from './drop-usage.ts'
import { joinBytes } from './join-bytes.ts'

export class EventLump {
  readonly events: readonly Uint8Array[]
  /** As the upstream sent them. */
  readonly bytes: Uint8Array
  #withoutUsage: Uint8Array | null = null

  /** Each event's bytes include its closing blank line. */
  constructor(events: readonly Uint8Array[]) {
    this.events = events
    this.bytes = joinBytes(events)
  }

  /** The events without usage; empty when they hold nothing else. Computed once for all subscribers. */
  get withoutUsage(): Uint8Array {
    this.#withoutUsage ??= joinBytes(this.events.map(withoutUsage))
    return this.#withoutUsage
  }
}
