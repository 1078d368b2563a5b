/** The pieces a prompt is read into, each with its place in the text as it was sent. */

/** Every kind of difference that is harmless. The list is closed: what is not of one of these kinds is a difference. */
export const harmlessKinds = [
  /** Outer white space, and how much of it stands between words of prose. */
  'white-space',
  /** `’` for `'`, `？` for `?`, `'word'` or `“word”` for `"word"`: the same mark in another shape, around no string or character. */
  'typography',
  /** The mark after the last sentence, where the sentence itself shows that it asks. */
  'closing-mark',
  /** Greetings, thanks, "please", "could you tell me" at either end. */
  'courtesy',
  /** "what's" for "what is", where it is used and not spoken of. */
  'contraction',
  /** The capital of a sentence's first word, and of "I" where it is no symbol. */
  'sentence-capital',
  /** A name in lower case that is a word of no other meaning: "france", "jquery", "html"; a field of study with capitals. */
  'known-name',
  /** "six" for 6. */
  'number-word',
  /** "times" and "x" for ×, between operands of a plain calculation. */
  'operator',
  /** British for American spelling, and misspellings that are no words. */
  'spelling',
  /** "US" for "United States", "TV" for "television". */
  'abbreviation',
  /** Two ways to put the same question: "how do I", "how to"; "is it … or not", "is it …". */
  'question-frame',
  /** A small word that a question's fixed frame can do without: "which is (the) best …", "how do I improve (my) English". */
  'frame-word',
  /** Singular for plural where a frame makes nothing of it: "what is the best book", "what are the best books". */
  'inflection',
  /** One word for another that is the same in every sentence ("somebody", "someone"), or one of the small list, once in a text. */
  'synonym',
  /** Words for others that the project's verdicts have shown to ask the same. */
  'learned',
] as const

export type HarmlessKind = (typeof harmlessKinds)[number]

export type TokenKind = 'word' | 'number' | 'name' | 'mark' | 'operator' | 'quotation' | 'code'

export interface Token {
  readonly kind: TokenKind
  /** How proof writes it: equal for all ways to write it that are harmless. */
  readonly key: string
  /** Where it stands in the text, end excluded; a token that stands for several covers them all. */
  readonly start: number
  readonly end: number
  /** Whether a line ends before it. */
  readonly opensLine: boolean
  /** By which kinds of rewriting its key came about. */
  readonly rewritten: readonly HarmlessKind[]
}

/** The token with another key, and the reason. */
export function rewrite(token: Token, key: string, kind: HarmlessKind): Token {
  return key === token.key ? token : { ...token, key, rewritten: [...token.rewritten, kind] }
}

/** New words in the place of some tokens; none of those where `keys` is empty. */
export function replaceWords(replaced: readonly Token[], keys: readonly string[], kind: HarmlessKind): Token[] {
  const first = replaced[0]
  const last = replaced.at(-1)
  if (!first || !last) return []
  const rewritten = [...new Set([...replaced.flatMap(token => token.rewritten), kind])]
  const place = { start: first.start, end: last.end, opensLine: first.opensLine }
  return keys.map(key => ({ kind: 'word', key, ...place, rewritten }))
}

/** The words of a list, between spaces or line ends. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter(Boolean))
}

/** The phrases of a list, one a line. */
export function phraseList(text: string): readonly string[] {
  return text
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean)
}
