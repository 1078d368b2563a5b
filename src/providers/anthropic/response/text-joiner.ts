/** Joins the texts of several blocks into OpenAI's single text, alike for plain responses and streams. */

export interface TextJoiner {
  /** Starts a new block: its text is separated from earlier text. */
  startBlock(): void
  /** Returns the text to append to the joined one. */
  add(text: string): string
}

const GAP = '\n\n'

export function createTextJoiner(): TextJoiner {
  let hasText = false
  let isApart = false
  return {
    startBlock() {
      isApart = true
    },
    add(text) {
      if (text === '') return ''
      const gap = hasText && isApart ? GAP : ''
      hasText = true
      isApart = false
      return gap + text
    },
  }
}
