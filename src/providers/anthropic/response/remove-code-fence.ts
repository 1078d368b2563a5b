/** Removes a code fence around a response that should be JSON only, however the text is split. Each character is read a constant number of times. */

export interface CodeFenceRemover {
  /** Returns the text that is certainly not part of a fence. */
  push(text: string): string
  /** Returns the text that was held back. */
  end(): string
}

const OPENING = /^```(?:json|JSON)?[ \t]*\r?\n/
/** Matches text that may still become an opening fence. */
const PARTIAL_OPENING = /^(?:`{0,2}|```(?:|j|js|jso|json|J|JS|JSO|JSON)[ \t]*\r?)$/
/** A longer first line is not an opening fence. */
const MAX_OPENING_CHARS = 100
const MAY_CLOSE = /[\s`]/

/** Text that does not begin with a fence is returned unchanged. */
export function createCodeFenceRemover(): CodeFenceRemover {
  let state: 'unknown' | 'plain' | 'fenced' = 'unknown'
  let space = ''
  let beginning = ''
  const closing = createClosingFenceRemover()

  function flush(): string {
    const rest = space + beginning
    space = ''
    beginning = ''
    return rest
  }

  /** Decides whether the text begins with a fence, once enough text has arrived. */
  function open(text: string): string {
    const added = beginning === '' ? text.trimStart() : text
    space += text.slice(0, text.length - added.length)
    beginning += added
    const line = beginning.slice(0, MAX_OPENING_CHARS)
    const opening = OPENING.exec(line)
    if (!opening && beginning === line && PARTIAL_OPENING.test(line)) return ''
    state = opening ? 'fenced' : 'plain'
    if (!opening) return flush()
    const inside = beginning.slice(opening[0].length)
    space = ''
    beginning = ''
    return closing.push(inside)
  }

  return {
    push(text) {
      if (state === 'unknown') return open(text)
      return state === 'plain' ? text : closing.push(text)
    },
    end: () => (state === 'fenced' ? closing.end() : flush()),
  }
}

/** Does the same for a complete text. */
export function removeCodeFence(text: string): string {
  const remover = createCodeFenceRemover()
  return remover.push(text) + remover.end()
}

/** Removes a closing fence: holds back three backticks and the space around them as long as no other text follows. */
function createClosingFenceRemover(): CodeFenceRemover {
  let before = ''
  let ticks = ''
  let after = ''

  function release(): string {
    const held = before + ticks + after
    before = ''
    ticks = ''
    after = ''
    return held
  }

  /** Adds a character that may be part of a closing fence. Returns the text that can no longer be part of one. */
  function add(character: string): string {
    if (character !== '`') {
      if (ticks === '') before += character
      else after += character
      return ''
    }
    if (after === '' && ticks.length < 3) {
      ticks += character
      return ''
    }
    // Of four backticks, the last three are held. Of backticks with space between them, the last ones are held with that space.
    const released = before + (after === '' ? character : ticks)
    ticks = after === '' ? ticks : character
    before = after
    after = ''
    return released
  }

  return {
    push(text) {
      let end = text.length
      while (end > 0 && MAY_CLOSE.test(text.charAt(end - 1))) end--
      let released = end === 0 ? '' : release() + text.slice(0, end)
      for (const character of text.slice(end)) released += add(character)
      return released
    },
    end: () => (ticks.length === 3 ? '' : release()),
  }
}
