/** Removes a code fence around a response that should be JSON only, however the text is split. */

export interface Unfencer {
  /** Returns the text that is certainly not part of a fence. */
  push(text: string): string
  /** Returns the text that was held back. */
  end(): string
}

const OPENING = /^\s*```(?:json|JSON)?[ \t]*\r?\n/
/** Text that may still become an opening fence. */
const OPENING_BEGUN = /^\s*(?:`{0,2}|```(?:|j|js|jso|json|J|JS|JSO|JSON)[ \t]*\r?)$/
const CLOSING = /^\s*```\s*$/
const SPACE = /\s/

/** Text that does not begin with a fence passes unchanged. */
export function createUnfencer(): Unfencer {
  let state: 'unknown' | 'plain' | 'fenced' = 'unknown'
  let held = ''

  return {
    push(text) {
      held += text
      if (state === 'unknown') {
        const opening = OPENING.exec(held)
        if (!opening && OPENING_BEGUN.test(held)) return ''
        state = opening ? 'fenced' : 'plain'
        held = held.slice(opening?.[0].length ?? 0)
      }
      const passed = state === 'fenced' ? held.slice(0, findTail(held)) : held
      held = held.slice(passed.length)
      return passed
    },
    end() {
      const rest = state === 'fenced' && CLOSING.test(held) ? '' : held
      held = ''
      return rest
    },
  }
}

/** The same for a whole text. */
export function unfence(text: string): string {
  const unfencer = createUnfencer()
  return unfencer.push(text) + unfencer.end()
}

/** Position where the closing fence begins, or may begin. */
function findTail(text: string): number {
  let at = skipSpace(text, text.length)
  for (let ticks = 0; ticks < 3 && text[at - 1] === '`'; ticks++) at--
  return skipSpace(text, at)
}

function skipSpace(text: string, end: number): number {
  let at = end
  while (at > 0 && SPACE.test(text.charAt(at - 1))) at--
  return at
}
