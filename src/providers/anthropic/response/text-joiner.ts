/** Joins the texts of several blocks into OpenAI's single text, for plain responses and streams. */

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
