/** Writes Anthropic's events of a message, one block after another. */

import type { JsonObject } from '../../json/json-object.ts'
import type { TypedEvent } from '../../openai-format/typed-events.ts'

export interface MessageWriter {
  write(type: string, fields?: JsonObject): void
  /** Begins a block, and ends the one before it. `block`: before anything of it was told. */
  open(block: JsonObject): void
  /** A piece of the block that is open. */
  delta(delta: JsonObject): void
  /** Ends the block that is open, if any. */
  close(): void
  /** What was written since it was last asked. */
  take(): TypedEvent[]
}

export function createMessageWriter(): MessageWriter {
  let written: TypedEvent[] = []
  let index = -1
  let isOpen = false

  function write(type: string, fields: JsonObject = {}): void {
    written.push({ type, ...fields })
  }

  function close(): void {
    if (isOpen) write('content_block_stop', { index })
    isOpen = false
  }

  return {
    write,
    close,
    open(block) {
      close()
      isOpen = true
      write('content_block_start', { index: ++index, content_block: block })
    },
    delta: delta => write('content_block_delta', { index, delta }),
    take() {
      const taken = written
      written = []
      return taken
    },
  }
}
