/** Ends a text at stop sequences that Anthropic does not accept: sequences of white space only. */

export interface StopSequenceFilter {
  /** Returns the text that is certainly before a stop; empty after a stop. */
  push(text: string): string
  /** Returns the text that was held back. */
  end(): string
  /** Whether a stop sequence was found. Later text is not part of the response. */
  readonly isStopped: boolean
}

/** Without sequences, text is returned unchanged. */
export function createStopSequenceFilter(sequences: readonly string[]): StopSequenceFilter {
  const matchers = sequences.map(createSequenceMatcher)
  let held = ''
  let isStopped = false

  /** Finds the first complete sequence. Returns its start relative to `text`, which is negative when it began in the held text; null without one. */
  function findStop(text: string): number | null {
    for (let at = 0; at < text.length; at++) {
      let longest = 0
      for (const matcher of matchers)
        if (matcher.isCompletedBy(text.charCodeAt(at))) longest = Math.max(longest, matcher.length)
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
      if (matchers.length === 0) return text
      const stop = findStop(text)
      const available = held + text
      isStopped = stop !== null
      const matched = Math.max(...matchers.map(matcher => matcher.matchedChars))
      const end = stop === null ? available.length - matched : held.length + stop
      held = isStopped ? '' : available.slice(end)
      return available.slice(0, end)
    },
    end() {
      const rest = held
      held = ''
      return rest
    },
  }
}

interface SequenceMatcher {
  readonly length: number
  /** The number of last characters that are the beginning of the sequence. */
  readonly matchedChars: number
  /** Adds the next character. Returns whether it completes the sequence. */
  isCompletedBy(character: number): boolean
}

/** Matches a sequence with the Knuth-Morris-Pratt algorithm: no character is read again. */
function createSequenceMatcher(sequence: string): SequenceMatcher {
  /** By the number of matched characters: the number that remains matched when the next character differs. */
  const fallback = new Uint32Array(sequence.length + 1)
  let matchedChars = 0

  function matchNext(from: number, character: number): number {
    let length = from
    while (length > 0 && sequence.charCodeAt(length) !== character) length = fallback[length] ?? 0
    return sequence.charCodeAt(length) === character ? length + 1 : 0
  }
  for (let at = 1; at < sequence.length; at++) fallback[at + 1] = matchNext(fallback[at] ?? 0, sequence.charCodeAt(at))

  return {
    length: sequence.length,
    get matchedChars() {
      return matchedChars
    },
    isCompletedBy(character) {
      matchedChars = matchNext(matchedChars, character)
      return matchedChars === sequence.length
    },
  }
}
