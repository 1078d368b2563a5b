/** Whole server-sent events that came together, with and without the usage that not every client asked for. */
import { withoutUsage } from './drop-usage.ts'
import { joinBytes } from './join-bytes.ts'

export class EventLump {
  readonly events: readonly Uint8Array[]
  /** As upstream sent them. */
  readonly bytes: Uint8Array
  #withoutUsage: Uint8Array | null = null

  /** Each event with its bytes, its closing blank line included. */
  constructor(events: readonly Uint8Array[]) {
    this.events = events
    this.bytes = joinBytes(events)
  }

  /** The same without token usage, made once for all who want it so; empty where there was nothing else. */
  get withoutUsage(): Uint8Array {
    this.#withoutUsage ??= joinBytes(this.events.map(withoutUsage))
    return this.#withoutUsage
  }
}
