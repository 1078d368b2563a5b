/** Removes a code fence around a response that should be JSON only, however the text is split. Each character is looked at a few times at most. */

export interface CodeFenceRemover {
  /** Returns the text that is certainly not part of a fence. */
  push(text: string): string
  /** Returns the text that was held back. */
  end(): string
}

const OPENING = /^```(?:json|JSON)?[ \t]*\r?\n/
/** Text that may still become an opening fence. */
const OPENING_BEGUN = /^(?:`{0,2}|```(?:|j|js|jso|json|J|JS|JSO|JSON)[ \t]*\r?)$/
/** A longer line opens no fence. */
const LONGEST_OPENING_CHARS = 100
const MAY_CLOSE = /[\s`]/

/** Text that does not begin with a fence passes unchanged. */
export function createCodeFenceRemover(): CodeFenceRemover {
  let state: 'unknown' | 'plain' | 'fenced' = 'unknown'
  let space = ''
  let begun = ''
  const closing = createClosing()

  function flush(): string {
    const rest = space + begun
    space = ''
    begun = ''
    return rest
  }

  /** Decides what the text is, once enough has come. */
  function open(text: string): string {
    const added = begun === '' ? text.trimStart() : text
    space += text.slice(0, text.length - added.length)
    begun += added
    const line = begun.slice(0, LONGEST_OPENING_CHARS)
    const opening = OPENING.exec(line)
    if (!opening && begun === line && OPENING_BEGUN.test(line)) return ''
    state = opening ? 'fenced' : 'plain'
    if (!opening) return flush()
    const inside = begun.slice(opening[0].length)
    space = ''
    begun = ''
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

/** The same for a whole text. */
export function removeCodeFence(text: string): string {
  const unfencer = createCodeFenceRemover()
  return unfencer.push(text) + unfencer.end()
}

/** Holds back three backticks, and the space around them, as long as nothing follows. */
function createClosing(): CodeFenceRemover {
  let before = ''
  let ticks = ''
  let behind = ''

  function release(): string {
    const held = before + ticks + behind
    before = ''
    ticks = ''
    behind = ''
    return held
  }

  /** Adds a character that may be part of a closing fence. Returns what is none any more. */
  function add(character: string): string {
    if (character !== '`') {
      if (ticks === '') before += character
      else behind += character
      return ''
    }
    if (behind === '' && ticks.length < 3) {
      ticks += character
      return ''
    }
    // Of four backticks, the last three are held; of some with space between, the last ones with that space.
    const passed = before + (behind === '' ? character : ticks)
    ticks = behind === '' ? ticks : character
    before = behind
    behind = ''
    return passed
  }

  return {
    push(text) {
      let end = text.length
      while (end > 0 && MAY_CLOSE.test(text.charAt(end - 1))) end--
      let passed = end === 0 ? '' : release() + text.slice(0, end)
      for (const character of text.slice(end)) passed += add(character)
      return passed
    },
    end: () => (ticks.length === 3 ? '' : release()),
  }
}
