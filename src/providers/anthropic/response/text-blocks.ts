/** Joins the texts of several blocks into OpenAI's single text, and copies thinking blocks. */
import type { ContentBlock, RedactedThinkingBlock, ThinkingBlock } from '@anthropic-ai/sdk/resources/messages'

const GAP = '\n\n'

export class TextJoiner {
  #hasText = false
  #isNewBlock = false

  /** Starts a new block. Its text is separated from earlier text. */
  startBlock(): void {
    this.#isNewBlock = true
  }

  /** Returns the text to append to the joined text. */
  add(text: string): string {
    if (text === '') return ''
    const gap = this.#hasText && this.#isNewBlock ? GAP : ''
    this.#hasText = true
    this.#isNewBlock = false
    return gap + text
  }
}

/** A thinking block as Anthropic sent it, with its index among the response's blocks. */
export type IndexedThinkingBlock = (ThinkingBlock | RedactedThinkingBlock) & { index: number }

/** Returns null for a block of another type. */
export function readThinkingBlock(block: ContentBlock, index: number): IndexedThinkingBlock | null {
  if (block.type === 'redacted_thinking') return { type: block.type, data: block.data, index }
  if (block.type !== 'thinking') return null
  return { type: block.type, thinking: block.thinking, signature: block.signature, index }
}
