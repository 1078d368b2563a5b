/** Ends a text at stop sequences that Anthropic does not accept: those of white space only. */

export interface TextStopper {
  /** Returns the text that is certainly before a stop; empty after a stop. */
  push(text: string): string
  /** Returns the text that was held back. */
  end(): string
  /** Whether a stop sequence was found: later text is not part of the response. */
  readonly isStopped: boolean
}

/** Without sequences, text passes unchanged. */
export function createTextStopper(sequences: readonly string[]): TextStopper {
  let held = ''
  let isStopped = false
  return {
    get isStopped() {
      return isStopped
    },
    push(text) {
      if (isStopped) return ''
      const known = held + text
      const found = sequences.map(sequence => known.indexOf(sequence)).filter(at => at >= 0)
      isStopped = found.length > 0
      const end = isStopped ? Math.min(...found) : known.length - countBegun(known, sequences)
      held = isStopped ? '' : known.slice(end)
      return known.slice(0, end)
    },
    end() {
      const rest = held
      held = ''
      return rest
    },
  }
}

/** Number of characters at the text's end that may begin a sequence. */
function countBegun(text: string, sequences: readonly string[]): number {
  const begun = sequences.map(sequence => {
    for (let length = Math.min(sequence.length - 1, text.length); length > 0; length--) {
      if (text.endsWith(sequence.slice(0, length))) return length
    }
    return 0
  })
  return Math.max(0, ...begun)
}
