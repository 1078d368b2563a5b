/** English words: their inflections, names, synonyms, opposites and relatives, from WordNet, and how most write them (compiled by scripts/build-lexicon.ts). */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { areEverydaySynonyms } from './everyday-synonyms.ts'
import { differInPrefix, haveCommonSense } from './word-relations.ts'
import { capitalise } from './words.ts'

export type PartOfSpeech = 'n' | 'v' | 'a' | 'r'
/** `plain`: none. `s`: plural, or third person. `d`: past or participle. */
export type Inflection = 'plain' | 's' | 'd' | 'ing' | 'er' | 'est'

export interface Lemma {
  readonly word: string
  readonly kind: PartOfSpeech
  readonly form: Inflection
}

interface Entry {
  /** `B`: it may be a name. `N`, `U`: it is one; `U` in capitals. `c`, `u` at the end: most write it with a capital, in capitals; `p`: it is a program. */
  readonly name: string
  /** Numbers of its senses by kind, the most frequent first. */
  readonly senses: Readonly<Record<PartOfSpeech, readonly number[]>>
  readonly opposites: readonly string[]
  /** Words of another form with the same root, and what an adjective measures: "deep" has "depth", "tall" has "height". */
  readonly relatives: readonly string[]
}

/** How two words relate; null: not, or not that the lexicon knows. */
export type WordRelation = 'synonym' | 'relative' | 'opposite' | 'kind' | 'neighbour' | null

interface Lexicon {
  /** Sorted lines, one a word. */
  readonly lines: string
  readonly irregular: ReadonlyMap<string, readonly Lemma[]>
  /** The number of each sense's more general sense; its own where there is none. */
  readonly parents: Int32Array
  readonly pairNames: ReadonlySet<string>
}

let loaded: Lexicon | undefined
/** What was read of a word; its lemmas from the first call of `lemmasOf`. */
const known = new Map<string, { entry: Entry | null; lemmas?: readonly Lemma[] }>()
/** When there are more, all are read anew: a few hundred words are most of any text, and keeping an order would cost more than that. */
const MOST_KNOWN = 8_192
const kinds: readonly PartOfSpeech[] = ['n', 'v', 'a', 'r']

/** Loads at the first question: a process that matches no text needs no lexicon. */
function lexicon(): Lexicon {
  if (loaded) return loaded
  const packed = readFileSync(new URL('./lexicon.txt.br', import.meta.url))
  const [lines = '', forms = '', more = '', pairs = ''] = brotliDecompressSync(packed).toString('latin1').split('\n\n')
  const irregular = Map.groupBy(forms.split('\n').map(readForm), ({ form }) => form)
  const parents = Int32Array.from(more.split(','), (up, at) => (up === '' ? at : at - Number.parseInt(up, 36)))
  loaded = {
    lines: `\n${lines}\n`,
    irregular: new Map([...irregular].map(([form, found]) => [form, found.map(({ lemma }) => lemma)])),
    parents,
    pairNames: new Set(pairs.split('\n')),
  }
  return loaded
}

const markedForms: Readonly<Record<string, [PartOfSpeech, Inflection]>> = {
  d: ['v', 'd'],
  s: ['n', 's'],
  c: ['a', 'er'],
  t: ['a', 'est'],
}

function readForm(line: string): { form: string; lemma: Lemma } {
  const [form = '', word = '', mark = ''] = line.split('\t')
  const [kind, inflection] = markedForms[mark] ?? ['v', 'd']
  return { form, lemma: { word, kind, form: inflection } }
}

function know(word: string) {
  let found = known.get(word)
  if (found === undefined) {
    found = { entry: readLine(findLine(word)) }
    if (known.size >= MOST_KNOWN) known.clear()
    known.set(word, found)
  }
  return found
}

function lookUp(word: string): Entry | null {
  return know(word).entry
}

/** Finds a lower-case word's line by halving. */
function findLine(word: string): string | null {
  const { lines } = lexicon()
  let [low, high] = [0, lines.length - 1]
  while (low < high) {
    const start = lines.lastIndexOf('\n', (low + high) >> 1)
    const end = lines.indexOf('\n', start + 1)
    const tab = lines.indexOf('\t', start)
    const found = lines.slice(start + 1, tab >= 0 && tab < end ? tab : end)
    if (found === word) return lines.slice(start + 1, end)
    if (found < word) low = end
    else high = start
  }
  return null
}

function readLine(line: string | null): Entry | null {
  if (line === null) return null
  const [, name = '', senses = '', opposites = '', relatives = ''] = line.split('\t')
  const lists = senses
    .split(';')
    .map(list => (list === '' ? [] : list.split(',').map(each => Number.parseInt(each, 36))))
  const [n = [], v = [], a = [], r = []] = lists
  return {
    name,
    senses: { n, v, a, r },
    opposites: opposites === '' ? [] : opposites.split(','),
    relatives: relatives === '' ? [] : relatives.split(','),
  }
}

const endings: ReadonlyArray<
  readonly [ending: string, instead: readonly string[], kind: PartOfSpeech, form: Inflection]
> = [
  ['ies', ['y'], 'n', 's'],
  ['es', ['e', ''], 'n', 's'],
  ['s', [''], 'n', 's'],
  ['ies', ['y'], 'v', 's'],
  ['es', ['e', ''], 'v', 's'],
  ['s', [''], 'v', 's'],
  ['ied', ['y'], 'v', 'd'],
  ['ed', ['', 'e'], 'v', 'd'],
  ['ing', ['', 'e'], 'v', 'ing'],
  ['er', ['', 'e'], 'a', 'er'],
  ['est', ['', 'e'], 'a', 'est'],
  ['ier', ['y'], 'a', 'er'],
  ['iest', ['y'], 'a', 'est'],
]

/** The words that a lower-case word may be a form of; itself first, if it is one. Empty for an unknown word. */
export function lemmasOf(word: string): readonly Lemma[] {
  const found = know(word)
  found.lemmas ??= readLemmas(word, found.entry)
  return found.lemmas
}

function readLemmas(word: string, entry: Entry | null): readonly Lemma[] {
  const own = kinds.filter(kind => (entry?.senses[kind].length ?? 0) > 0)
  const irregular = lexicon().irregular.get(word) ?? []
  return [...own.map(kind => ({ word, kind, form: 'plain' as const })), ...irregular, ...regularLemmas(word)]
}

function regularLemmas(word: string): Lemma[] {
  return endings.flatMap(([ending, instead, kind, form]) => {
    if (!word.endsWith(ending) || word.length < ending.length + 2 || word.endsWith('ss')) return []
    const stem = word.slice(0, -ending.length)
    const doubled = /^(?:ed|ing|er|est)$/.test(ending) && /([b-df-hj-np-tv-z])\1$/.test(stem) ? [stem.slice(0, -1)] : []
    const bases = [...instead.map(end => stem + end), ...doubled]
    return bases.filter(base => (lookUp(base)?.senses[kind].length ?? 0) > 0).map(base => ({ word: base, kind, form }))
  })
}

/** The base form that a lower-case word most likely has; itself, if it is unknown. */
export function baseFormOf(word: string): string {
  return lemmasOf(word)[0]?.word ?? word
}

/** Whether a lower-case word is an English word, not only a name. */
export function isEnglishWord(word: string): boolean {
  const entry = lookUp(word)
  return (entry !== null && !/^[NUcu]/.test(entry.name)) || lemmasOf(word).some(({ form }) => form !== 'plain')
}

/** Whether it is a name, and no word in lower case: "france", but not "turkey". */
export function isUnambiguousName(word: string): boolean {
  return /[NU]/.test(lookUp(word)?.name ?? '') && lemmasOf(word).every(({ form }) => form === 'plain')
}

/** Whether two lower-case words are a name together, and nothing else: "white house". */
export function isTwoWordName(pair: string): boolean {
  return lexicon().pairNames.has(pair)
}

/** Whether it is written in capitals where it is a name: "html". */
export function isAcronym(word: string): boolean {
  return lookUp(word)?.name === 'U'
}

/** Whether it may be a name. */
export function canBeName(word: string): boolean {
  return /[BNU]/.test(lookUp(word)?.name ?? '')
}

/** Whether it is a program's name, and otherwise a rare word: "use git", but not "a git". */
export function isProgramName(word: string): boolean {
  return lookUp(word)?.name === 'wp'
}

/** A lower-case word as most write it: "turkey" as a name, "ram" in capitals. */
export function usualSpellingOf(word: string): string {
  const { name = '' } = lookUp(word) ?? {}
  const isName = isUnambiguousName(word)
  if (name.endsWith('u') || (isName && name === 'U')) return word.toUpperCase()
  return name.endsWith('c') || isName ? capitalise(word) : word
}

/** How many senses a lower-case base form has of a kind. */
export const countSenses = (word: string, kind: PartOfSpeech): number => lookUp(word)?.senses[kind].length ?? 0

/** Whether a lower-case base form most often names a thing, a stuff or a being (or other `kinds`); not so "height", "skill", nor a part of the body. */
export function isNounOfKind(word: string, kinds: readonly string[] = ['object', 'substance']): boolean {
  const { parents } = lexicon()
  const things = kinds.map(each => lookUp(each)?.senses.n[0])
  let sense = lookUp(word)?.senses.n[0] ?? 0
  while (parents[sense] !== sense && !things.includes(sense)) sense = parents[sense] ?? sense
  return things.includes(sense)
}

/** Whether a plural that is a word of its own most often names what a base form does: "eggs", but not "customs". */
export function isRegularPlural(plural: string, base: string): boolean {
  const [sense] = lookUp(plural)?.senses.n ?? []
  return sense !== undefined && lookUp(base)?.senses.n.slice(0, 2).includes(sense) === true
}

/** How two lower-case base forms relate; `kind` is what both are, null for any. */
export function findWordRelation(one: string, other: string): WordRelation {
  const [ours, theirs] = [lookUp(one), lookUp(other)]
  if (!ours || !theirs) return null
  if (ours.opposites.includes(other) || theirs.opposites.includes(one) || differInPrefix(one, other)) return 'opposite'
  if (areEverydaySynonyms(one, other)) return 'synonym'
  if (kinds.some(kind => haveCommonSense(ours.senses[kind], theirs.senses[kind]))) return 'synonym'
  if (ours.relatives.includes(other) || theirs.relatives.includes(one)) return 'relative'
  const isKind = isKindOf(ours.senses.v, theirs.senses.v) || isKindOf(theirs.senses.v, ours.senses.v)
  if (isKind && !kinds.some(kind => kind !== 'v' && areNear(ours.senses[kind], theirs.senses[kind]))) return 'kind'
  return kinds.some(kind => areNear(ours.senses[kind], theirs.senses[kind])) ? 'neighbour' : null
}

/** A frequent sense of the one is a kind of a frequent sense of the other. */
function isKindOf(ours: readonly number[], theirs: readonly number[]): boolean {
  const { parents } = lexicon()
  return ours.slice(0, 3).some(sense => parents[sense] !== sense && theirs.slice(0, 3).includes(parents[sense] ?? -1))
}

/** Two kinds of one thing. */
function areNear(ours: readonly number[], theirs: readonly number[]): boolean {
  const { parents } = lexicon()
  const up = (senses: readonly number[]) =>
    new Set(
      senses.slice(0, 3).flatMap(sense => [sense, parents[sense] ?? sense, parents[parents[sense] ?? 0] ?? sense]),
    )
  return !up(ours).isDisjointFrom(up(theirs))
}
