/** Joins the texts of several blocks into OpenAI's one, the same for plain answers and streams. */

export interface TextJoiner {
  /** Another block begins: what comes stands apart from what was said. */
  part(): void
  /** The text as it continues the joined one. */
  add(text: string): string
}

const GAP = '\n\n'

export function createTextJoiner(): TextJoiner {
  let hasText = false
  let isApart = false
  return {
    part() {
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
