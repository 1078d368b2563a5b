/** Kinds of difference between two prompts. They serve people and counters: a harmful difference of any kind fails proof. */
import type { Token } from '../../text/token.ts'

export type DifferenceKind =
  /** The texts are not equal, and one is code, data, long, a text to be worked on, or in a language without tables. */
  | 'verbatim'
  | 'number'
  | 'negation'
  | 'modality'
  | 'person'
  | 'letter-case'
  | 'quotation'
  | 'code'
  | 'sign'
  | 'word-order'
  /** One text has additional words. */
  | 'added-words'
  /** Different words at the same position. */
  | 'words'

const negations = new Set('not no never none nor neither nothing nobody without cannot'.split(' '))
const modals = new Set('can could may might must shall should will would'.split(' '))
const persons = new Set(
  'i you he she it we they me him her us them my your his its our their mine yours hers ours theirs one who whom whose'.split(
    ' ',
  ),
)

/** Classifies the difference between these stretches of two texts. */
export function differenceKind(asked: readonly Token[], cached: readonly Token[]): DifferenceKind {
  const both = [...asked, ...cached]
  if (both.some(token => token.kind === 'code')) return 'code'
  if (both.some(token => token.kind === 'quotation')) return 'quotation'
  if (sameBut(asked, cached, key => key.toLowerCase())) return 'letter-case'
  if (both.some(token => token.kind === 'number' || /\d/.test(token.key))) return 'number'
  if (both.some(token => negations.has(token.key) || token.key.endsWith("n't"))) return 'negation'
  if (both.some(token => modals.has(token.key))) return 'modality'
  if (both.every(token => token.kind === 'mark' || token.kind === 'operator')) return 'sign'
  if (both.some(token => persons.has(token.key))) return 'person'
  return asked.length === 0 || cached.length === 0 ? 'added-words' : 'words'
}

function sameBut(asked: readonly Token[], cached: readonly Token[], fold: (key: string) => string): boolean {
  return asked.length === cached.length && asked.every((token, at) => fold(token.key) === fold(cached[at]?.key ?? ''))
}
