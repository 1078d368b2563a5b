/** The tokens of a prompt, each with its position in the original text. */

/** Every kind of harmless difference. The list is closed: any other difference is harmful. */
export const harmlessKinds = [
  /** Outer white space, and its amount between words of prose. */
  'white-space',
  /** `’` for `'`, `？` for `?`, `'word'` or `“word”` for `"word"`: another shape of the same mark, not around a string or character. */
  'typography',
  /** The mark after the last sentence, if the sentence is recognizable as a question or request without it. */
  'closing-mark',
  /** Greetings, thanks, "please", "could you tell me" at either end. */
  'courtesy',
  /** "what's" for "what is", where it is used and not mentioned. */
  'contraction',
  /** The capital of a sentence's first word, and of "I" unless it is a symbol. */
  'sentence-capital',
  /** A name in lower case that has no other meaning: "france", "jquery", "html"; a field of study with capitals. */
  'known-name',
  /** "six" for 6. */
  'number-word',
  /** "times" and "x" for ×, between operands of a plain calculation. */
  'operator',
  /** British for American spelling, and misspellings that are not words. */
  'spelling',
  /** "US" for "United States", "TV" for "television". */
  'abbreviation',
  /** Two forms of the same question: "how do I", "how to"; "is it … or not", "is it …". */
  'question-frame',
  /** A small word that a question's fixed form can omit: "which is (the) best …", "how do I improve (my) English". */
  'frame-word',
  /** Singular for plural where the question's form does not depend on it: "what is the best book", "what are the best books". */
  'inflection',
  /** A synonym that fits every sentence ("somebody", "someone"), or one from the short list, once in a text. */
  'synonym',
] as const

export type HarmlessKind = (typeof harmlessKinds)[number]

export type TokenKind = 'word' | 'number' | 'name' | 'mark' | 'operator' | 'quotation' | 'code'

export interface Token {
  readonly kind: TokenKind
  /** The normalized form: equal for all harmless variants. */
  readonly key: string
  /** Position in the text, end excluded. A token that replaces several covers all of them. */
  readonly start: number
  readonly end: number
  /** Whether a line ends before it. */
  readonly opensLine: boolean
  /** The kinds of rewriting that led to its key. */
  readonly rewritten: readonly HarmlessKind[]
}

/** Returns the token with another key and the reason. */
export function rewrite(token: Token, key: string, kind: HarmlessKind): Token {
  return key === token.key ? token : { ...token, key, rewritten: [...token.rewritten, kind] }
}

/** Replaces tokens by new words; returns none when `keys` is empty. */
export function replaceWords(replaced: readonly Token[], keys: readonly string[], kind: HarmlessKind): Token[] {
  const first = replaced[0]
  const last = replaced.at(-1)
  if (!first || !last) return []
  const rewritten = [...new Set([...replaced.flatMap(token => token.rewritten), kind])]
  const place = { start: first.start, end: last.end, opensLine: first.opensLine }
  return keys.map(key => ({ kind: 'word', key, ...place, rewritten }))
}

/** The words of a list separated by white space. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter(Boolean))
}

/** The phrases of a list, one per line. */
export function phraseList(text: string): readonly string[] {
  return text
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean)
}
