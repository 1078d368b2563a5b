/** The lexicon of English words from WordNet: inflections, names, synonyms, opposites, relatives and usual spelling. Compiled by scripts/build-lexicon.ts. */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { lazily } from './packed-model.ts'
import { differInPrefix, haveCommonSense } from './word-relations.ts'
import { capitalise } from './words.ts'

export type PartOfSpeech = 'n' | 'v' | 'a' | 'r'
/** The inflection. `plain` is the base form, `s` plural or third person, `d` past or participle. */
export type Inflection = 'plain' | 's' | 'd' | 'ing' | 'er' | 'est'

export interface Lemma {
  readonly word: string
  readonly kind: PartOfSpeech
  readonly form: Inflection
}

interface Entry {
  /** `B`: may be a name. `N`: is a name. `U`: is a name in capitals. A final `c` or `u`: usually has a capital or is in capitals. `p`: is a program. */
  readonly name: string
  /** Sense numbers by part of speech, the most frequent first. */
  readonly senses: Readonly<Record<PartOfSpeech, readonly number[]>>
  readonly opposites: readonly string[]
  /** Words with the same root, and the quantity of an adjective: "deep" has "depth", "tall" has "height". */
  readonly relatives: readonly string[]
}

/** The relation of two words. Null when the lexicon has none. */
export type WordRelation = 'synonym' | 'relative' | 'opposite' | 'kind' | 'neighbour' | null

interface Lexicon {
  readonly lines: string
  readonly irregular: ReadonlyMap<string, readonly Lemma[]>
  /** The more general sense of each sense, or the sense itself if there is none. */
  readonly parents: Int32Array
  readonly pairNames: ReadonlySet<string>
}

/** Cached entries by word. Lemmas are added by the first call of `lemmasOf`. */
const known = new Map<string, { entry: Entry | null; lemmas?: readonly Lemma[] }>()
/** Maximum cached words. Beyond it the cache is cleared, which costs less than an LRU order, because few words make up most of a text. */
const MAX_CACHED = 8_192
const kinds: readonly PartOfSpeech[] = ['n', 'v', 'a', 'r']

/** The lexicon, loaded at the first use, because a process without semantic matching does not need it. */
const lexicon = lazily((): Lexicon => {
  const packed = readFileSync(new URL('./lexicon.txt.br', import.meta.url))
  const [lines = '', forms = '', more = '', pairs = ''] = brotliDecompressSync(packed).toString('latin1').split('\n\n')
  const irregular = Map.groupBy(forms.split('\n').map(parseForm), ({ form }) => form)
  const parents = Int32Array.from(more.split(','), (up, at) => (up === '' ? at : at - Number.parseInt(up, 36)))
  return {
    lines: `\n${lines}\n`,
    irregular: new Map([...irregular].map(([form, found]) => [form, found.map(({ lemma }) => lemma)])),
    parents,
    pairNames: new Set(pairs.split('\n')),
  }
})

const markedForms: Readonly<Record<string, [PartOfSpeech, Inflection]>> = {
  d: ['v', 'd'],
  s: ['n', 's'],
  c: ['a', 'er'],
  t: ['a', 'est'],
}

function parseForm(line: string): { form: string; lemma: Lemma } {
  const [form = '', word = '', mark = ''] = line.split('\t')
  const [kind, inflection] = markedForms[mark] ?? ['v', 'd']
  return { form, lemma: { word, kind, form: inflection } }
}

function findCached(word: string) {
  let found = known.get(word)
  if (found === undefined) {
    found = { entry: parseEntry(findLine(word)) }
    if (known.size >= MAX_CACHED) known.clear()
    known.set(word, found)
  }
  return found
}

function lookUp(word: string): Entry | null {
  return findCached(word).entry
}

/** Finds a lower-case word's line by binary search. */
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

function parseEntry(line: string | null): Entry | null {
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

/** Returns the base forms of a lower-case word, itself first if it is one. Empty for an unknown word. */
export function lemmasOf(word: string): readonly Lemma[] {
  const found = findCached(word)
  found.lemmas ??= findLemmas(word, found.entry)
  return found.lemmas
}

function findLemmas(word: string, entry: Entry | null): readonly Lemma[] {
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

/** Returns the most likely base form of a lower-case word; an unknown word itself. */
export function baseFormOf(word: string): string {
  return lemmasOf(word)[0]?.word ?? word
}

/** Returns whether a lower-case word is an English word and not only a name. */
export function isEnglishWord(word: string): boolean {
  const entry = lookUp(word)
  return (entry !== null && !/^[NUcu]/.test(entry.name)) || lemmasOf(word).some(({ form }) => form !== 'plain')
}

/** Returns whether a word is a name and no other word: "france", but not "turkey". */
export function isUnambiguousName(word: string): boolean {
  return /[NU]/.test(lookUp(word)?.name ?? '') && lemmasOf(word).every(({ form }) => form === 'plain')
}

/** Returns whether two lower-case words together are a name and nothing else: "white house". */
export function isTwoWordName(pair: string): boolean {
  return lexicon().pairNames.has(pair)
}

/** Returns whether the word, as a name, is written in capitals: "html". */
export function isAcronym(word: string): boolean {
  return lookUp(word)?.name === 'U'
}

/** Returns whether the word may be a name. */
export function canBeProperNoun(word: string): boolean {
  return /[BNU]/.test(lookUp(word)?.name ?? '')
}

/** Returns whether the word is a program's name and otherwise rare: "use git", but not "a git". */
export function isProgramName(word: string): boolean {
  return lookUp(word)?.name === 'wp'
}

/** Returns the usual spelling of a lower-case word: "turkey" as a name, "ram" in capitals. */
export function usualSpellingOf(word: string): string {
  const { name = '' } = lookUp(word) ?? {}
  const isName = isUnambiguousName(word)
  if (name.endsWith('u') || (isName && name === 'U')) return word.toUpperCase()
  return name.endsWith('c') || isName ? capitalise(word) : word
}

/** Returns the number of senses of a lower-case base form as a part of speech. */
export const countSenses = (word: string, kind: PartOfSpeech): number => lookUp(word)?.senses[kind].length ?? 0

/** Returns whether a lower-case base form most often names an object, a substance or a being, or one of `kinds`; not "height", "skill" or a body part. */
export function isNounOfKind(word: string, kinds: readonly string[] = ['object', 'substance']): boolean {
  const senses = generalSensesOf(word, 'n', 1)
  return kinds.some(each => senses.has(lookUp(each)?.senses.n[0] ?? -1))
}

/** Returns the `most` frequent senses of a lower-case base form as a part of speech, and all more general senses. */
export function generalSensesOf(word: string, kind: PartOfSpeech, most: number): ReadonlySet<number> {
  const senses = new Set(lookUp(word)?.senses[kind].slice(0, most))
  // A loop over a set visits what it adds.
  for (const sense of senses) senses.add(lexicon().parents[sense] ?? sense)
  return senses
}

/** Returns the relation of two lower-case base forms. */
export function findWordRelation(one: string, other: string): WordRelation {
  if (one !== other && differInPrefix(one, other)) return 'opposite'
  const [ours, theirs] = [lookUp(one), lookUp(other)]
  if (!ours || !theirs) return null
  if (ours.opposites.includes(other) || theirs.opposites.includes(one)) return 'opposite'
  if (kinds.some(kind => haveCommonSense(ours.senses[kind], theirs.senses[kind]))) return 'synonym'
  if (ours.relatives.includes(other) || theirs.relatives.includes(one)) return 'relative'
  const isKind = isKindOf(ours.senses.v, theirs.senses.v) || isKindOf(theirs.senses.v, ours.senses.v)
  if (isKind && !kinds.some(kind => kind !== 'v' && areNear(ours.senses[kind], theirs.senses[kind]))) return 'kind'
  return kinds.some(kind => areNear(ours.senses[kind], theirs.senses[kind])) ? 'neighbour' : null
}

/** Returns whether a frequent sense of one word is a kind of a frequent sense of the other. */
function isKindOf(ours: readonly number[], theirs: readonly number[]): boolean {
  const { parents } = lexicon()
  return ours.slice(0, 3).some(sense => parents[sense] !== sense && theirs.slice(0, 3).includes(parents[sense] ?? -1))
}

/** Returns whether the words are two kinds of one thing. */
function areNear(ours: readonly number[], theirs: readonly number[]): boolean {
  const { parents } = lexicon()
  const up = (senses: readonly number[]) =>
    new Set(
      senses.slice(0, 3).flatMap(sense => [sense, parents[sense] ?? sense, parents[parents[sense] ?? 0] ?? sense]),
    )
  return !up(ours).isDisjointFrom(up(theirs))
}
