/** Ends a text at stop sequences that its provider does not accept: Anthropic none of white space only, and the Responses API none at all. */

export interface StopSequenceFilter {
  /** Returns the text that is certainly before a stop; empty after a stop. */
  push(text: string): string
  /** Returns the text that was held back. */
  end(): string
  /** The stop sequence that was found; null without one. Later text is not part of the response. */
  readonly stoppedBy: string | null
}

/** Without sequences, text is returned unchanged. */
export function createStopSequenceFilter(sequences: readonly string[]): StopSequenceFilter {
  const matchers = sequences.map(createSequenceMatcher)
  let held = ''
  let stoppedBy: string | null = null

  /** Finds the first complete sequence. Returns its start relative to `text`, which is negative when it began in the held text; null without one. */
  function findStop(text: string): number | null {
    for (let at = 0; at < text.length; at++) {
      let longest = ''
      for (const matcher of matchers)
        if (matcher.isCompletedBy(text.charCodeAt(at)) && matcher.sequence.length > longest.length)
          longest = matcher.sequence
      if (longest === '') continue
      stoppedBy = longest
      return at + 1 - longest.length
    }
    return null
  }

  return {
    get stoppedBy() {
      return stoppedBy
    },
    push(text) {
      if (stoppedBy !== null) return ''
      if (matchers.length === 0) return text
      const stop = findStop(text)
      const available = held + text
      const matched = Math.max(...matchers.map(matcher => matcher.matchedChars))
      const end = stop === null ? available.length - matched : held.length + stop
      held = stop !== null ? '' : available.slice(end)
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
  readonly sequence: string
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
    sequence,
    get matchedChars() {
      return matchedChars
    },
    isCompletedBy(character) {
      matchedChars = matchNext(matchedChars, character)
      return matchedChars === sequence.length
    },
  }
}
