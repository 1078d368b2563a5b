/** What a text is read into: its tokens, in order. */

export interface Token {
  /**
   * `word`: prose; `number`: digits or number words; `identifier`: letters mixed with digits, underscores or dots; `symbol`: an
   * operator or sign; `link`: an address or a path.
   */
  kind: 'word' | 'number' | 'identifier' | 'symbol' | 'link'
  /** As written. */
  raw: string
  /** In lower case; for a number its value in one spelling. */
  key: string
  /** Under these, inflections of a word meet; the key is one of them. */
  forms: readonly string[]
  /** How much of the question hangs on it. */
  weight: 'function' | 'light' | 'content'
  /** Whether it is the first of a sentence, where a capital says nothing. */
  opensSentence: boolean
  /** Whether a comma or another mark of punctuation stands before it. */
  afterPunctuation: boolean
  /** The name of the unit that belongs to a number. */
  unit?: string
}

/** Whether a word is written as a name: capitalised where prose is not. */
export function isCapitalised(token: Token): boolean {
  const first = token.raw[0] ?? ''
  return first !== first.toLowerCase()
}

/** Whether a word is written in capitals: "US", "ATMs". */
export function isAcronym(token: Token): boolean {
  const letters = token.raw.replace(/s$/, '')
  return letters.length > 1 && letters === letters.toUpperCase() && letters !== letters.toLowerCase()
}
