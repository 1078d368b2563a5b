/** Ends a text at sequences that Anthropic does not take as its own: those of white space alone. */

export interface TextStopper {
  /** The text that is certain to stand before a stop; empty once there was one. */
  push(text: string): string
  /** What was held back. */
  end(): string
  /** Whether a sequence was met: nothing that comes after it belongs to the answer. */
  readonly isStopped: boolean
}

/** Without sequences, text passes as it is. */
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

/** Characters at the end of a text that may be the beginning of a sequence. */
function countBegun(text: string, sequences: readonly string[]): number {
  const begun = sequences.map(sequence => {
    for (let length = Math.min(sequence.length - 1, text.length); length > 0; length--) {
      if (text.endsWith(sequence.slice(0, length))) return length
    }
    return 0
  })
  return Math.max(0, ...begun)
}
