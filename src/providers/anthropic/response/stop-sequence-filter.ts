/** Ends a text at stop sequences that Anthropic does not accept: those of white space only. */

export interface StopSequenceFilter {
  /** Returns the text that is certainly before a stop; empty after a stop. */
  push(text: string): string
  /** Returns the text that was held back. */
  end(): string
  /** Whether a stop sequence was found: later text is not part of the response. */
  readonly isStopped: boolean
}

/** Without sequences, text passes unchanged. */
export function createStopSequenceFilter(sequences: readonly string[]): StopSequenceFilter {
  const seekers = sequences.map(createSeeker)
  let held = ''
  let isStopped = false

  /** Reads up to the first sequence that is whole. Returns how many characters of `text` are behind what was held; null without one. */
  function findStop(text: string): number | null {
    for (let at = 0; at < text.length; at++) {
      let longest = 0
      for (const seeker of seekers) if (seeker.isFound(text.charCodeAt(at))) longest = Math.max(longest, seeker.length)
      if (longest > 0) return at + 1 - longest
    }
    return null
  }

  return {
    get isStopped() {
      return isStopped
    },
    push(text) {
      if (isStopped) return ''
      if (seekers.length === 0) return text
      const stop = findStop(text)
      const known = held + text
      isStopped = stop !== null
      const begun = Math.max(...seekers.map(seeker => seeker.begun))
      const end = stop === null ? known.length - begun : held.length + stop
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

interface Seeker {
  readonly length: number
  /** How many of the last characters may begin the sequence. */
  readonly begun: number
  /** Takes the next character. Whether it ends the sequence. */
  isFound(character: number): boolean
}

/** Knuth, Morris and Pratt's: no character is looked at again, however often the sequence almost comes. */
function createSeeker(sequence: string): Seeker {
  /** Where to go on after so many characters of the sequence, if the next one is another. */
  const fallback = new Uint32Array(sequence.length + 1)
  let begun = 0

  function follow(from: number, character: number): number {
    let length = from
    while (length > 0 && sequence.charCodeAt(length) !== character) length = fallback[length] ?? 0
    return sequence.charCodeAt(length) === character ? length + 1 : 0
  }
  for (let at = 1; at < sequence.length; at++) fallback[at + 1] = follow(fallback[at] ?? 0, sequence.charCodeAt(at))

  return {
    length: sequence.length,
    get begun() {
      return begun
    },
    isFound(character) {
      begun = follow(begun, character)
      return begun === sequence.length
    },
  }
}
