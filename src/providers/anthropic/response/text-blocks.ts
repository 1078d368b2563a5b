/** Joins the texts of several blocks into OpenAI's single text, and copies thinking blocks. */
import type { ContentBlock, RedactedThinkingBlock, ThinkingBlock } from '@anthropic-ai/sdk/resources/messages'

export interface TextJoiner {
  /** Starts a new block. Its text is separated from earlier text. */
  startBlock(): void
  /** Returns the text to append to the joined text. */
  add(text: string): string
}

const GAP = '\n\n'

export function createTextJoiner(): TextJoiner {
  let hasText = false
  let isNewBlock = false
  return {
    startBlock() {
      isNewBlock = true
    },
    add(text) {
      if (text === '') return ''
      const gap = hasText && isNewBlock ? GAP : ''
      hasText = true
      isNewBlock = false
      return gap + text
    },
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
