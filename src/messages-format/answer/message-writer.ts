/** Writes Anthropic's message events, one block after another. */

import type { JsonObject } from '../../json/json-object.ts'
import type { TypedEvent } from '../../openai-format/typed-events.ts'

export interface MessageWriter {
  write(type: string, fields?: JsonObject): void
  /** Closes the open block and begins the next. `block` is the block without its content. */
  open(block: JsonObject): void
  /** Adds a piece to the open block. */
  delta(delta: JsonObject): void
  /** Closes the open block, if there is one. */
  close(): void
  /** Returns the events written since the last call. */
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
