/** Contrast pairs: questions and what a table of rewrites makes of them, labelled by the rewrite. Training data of the semantic cache. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  countSenses,
  findWordRelation,
  isEnglishWord,
  isUnambiguousName,
  lemmasOf,
} from '../../src/cache/text/lexicon.ts'
import type { LabelledPair } from './pairs.ts'

/**
 * Three tables: rewrites that change the question, rewrites that do not, and frames about things.
 * In the first two, `[kind cap]` begins a kind, and a row is `pattern => text / text`, or words that replace each other.
 * In the third, `[thing, thing]` begins a list of things. A row has frames that ask the same about each of them; frames of two rows differ.
 */
const [differentRewrites = '', sameRewrites = '', frames = ''] = readFileSync(
  join(import.meta.dirname, 'contrasts.txt'),
  'utf8',
)
  .split(/^(?:different|same|frames)\n/m)
  .slice(1)

export type ContrastPair = Omit<LabelledPair, 'set'>

/** Returns a number of at least 0 and below `limit`. */
type Random = (limit: number) => number
/** Returns a changed text, or null if it does not apply. Texts begin in lower case unless the first word is a name, and have no final mark. */
type Rewrite = (text: string, random: Random) => string | null

interface Kind {
  readonly name: string
  readonly label: 0 | 1
  readonly cap: number
  readonly rewrites: readonly Rewrite[]
}

/** Most pairs of a kind, unless its heading has another number. */
export const KIND_CAP = 900
const REWORDED_CAP = 1400

export function* makeContrasts(questions: readonly string[], seed = 1): Generator<ContrastPair> {
  const random = createRandom(seed)
  const framed = [...makeFramed(random)]
  const pool = [...new Set(questions.map(each => each.trim()))].filter(isUsable)
  const asked = shuffle([...pool, ...new Set(framed.filter(({ label }) => label === 1).map(({ a }) => a))], random)
  const same = [...readKinds(sameRewrites, 1), ...computedKinds(asked, 1)]
  const kinds = [...same, ...computedKinds(asked, 0), ...readKinds(differentRewrites, 0)]
  const read = asked.map(readQuestion)
  const seen = new Set<string>()
  function* put(a: string, b: string, label: 0 | 1, category: string): Generator<ContrastPair> {
    const isOfMarks = /^(?:letter case|marks)$/.test(category)
    const key = [a, b].map(isOfMarks ? String : comparable).sort()
    if (key[0] === key[1] || seen.has(key.join('\n'))) return
    seen.add(key.join('\n'))
    yield random(2) === 0 ? { a, b, label, category } : { a: b, b: a, label, category }
  }
  for (const { a, b, label, category } of framed) yield* put(a, b, label, category)
  const changes: Record<0 | 1, [text: string, changed: string][]> = { 0: [], 1: [] }
  for (const { name, label, cap, rewrites } of kinds) {
    const share = Math.max(12, Math.ceil((2.5 * cap) / rewrites.length))
    const used = rewrites.map(() => 0)
    let left = cap
    for (const question of [...read, ...read]) {
      const { text } = question
      if (left === 0) break
      if (label === 1 && question.mentionsWords) continue
      for (const at of shuffle([...rewrites.keys()], random)) {
        const changed = (used[at] ?? 0) < share && rewrite(question, rewrites[at], random, name === 'letter case')
        const [pair] = changed ? put(text, changed, label, name) : []
        if (!pair || !changed) continue
        yield pair
        if (name !== 'letter case') changes[label].push([text, changed])
        used[at] = (used[at] ?? 0) + 1
        left--
        break
      }
    }
  }
  // What differs is reworded too, so that a rewording does not tell that two questions are the same.
  const rewordings = same.filter(
    ({ name }) => !/^(?:plural|possible|short form|number word|letter case|marks)$/.test(name),
  )
  for (const label of [0, 1] as const) {
    let left = REWORDED_CAP
    for (const [text, changed] of shuffle(changes[label], random)) {
      if (left === 0) break
      const question = readQuestion(changed)
      if (question.mentionsWords || changed === changed.toUpperCase()) continue
      // These fit nearly every text.
      const tried = rewordings.filter(({ name }) => random(3) === 0 || !/^(?:courtesy|typo|story)$/.test(name))
      const reworded = shuffle(tried, random)
        .values()
        .flatMap(({ rewrites }) => shuffle([...rewrites], random))
        .map(each => rewrite(question, each, random))
        .find(Boolean)
      if (!reworded) continue
      for (const pair of put(text, reworded, label, label === 1 ? 'reworded twice' : 'reworded contrast')) {
        yield pair
        left--
      }
    }
  }
}

/** Mulberry32: the same numbers on every machine. */
function createRandom(seed: number): Random {
  let state = seed
  return limit => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
}

function shuffle<T>(list: T[], random: Random): T[] {
  for (let at = list.length - 1; at > 0; at--) {
    const other = random(at + 1)
    const [one, two] = [list[at] as T, list[other] as T]
    list[at] = two
    list[other] = one
  }
  return list
}

const pick = <T>(list: readonly T[], random: Random) => list[random(list.length)] as T
const comparable = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** Returns whether a text is one plain English question or request without quotations, code and data. */
function isUsable(text: string): boolean {
  if (text.length < 14 || text.length > 110 || !/^[A-Za-z][\w ,'-]*(?:\w'\w|[\w ,.+#-])*[?.!]?$/.test(text))
    return false
  if (/ {2}|(?:^| )'|'(?: |$)|[.?!] |\b(?:fuck|die|kill|suicide)\b/i.test(text)) return false
  const words = text.match(/[A-Za-z]+/g) ?? []
  return words.length >= 4 && words.filter(word => isKnown(word.toLowerCase())).length >= 0.75 * words.length
}

const smallWords = new Set(
  `a an and any are as at be but by can could did do does for from has have he her his how i if in is it its may me most must my no not of on
  or our she should so than that the their them there these they this those to us was we were what when where which who whom why will with
  without would you your please tell give explain list name define describe show about after before during instead over under near then also still just
  only very into onto some many much more other another every each own same such good best better little few near lot able sure worth left certain particular specific single whole entire later extra previous possible`.split(
    /\s+/,
  ),
)
const isKnown = (word: string) => smallWords.has(word) || isEnglishWord(word)

interface Question {
  readonly text: string
  /** The text without its final mark, in lower case at the beginning if `isCapital`. */
  readonly body: string
  readonly mark: string
  readonly isCapital: boolean
  /** A question about words, letters or spelling can change its sense with any letter. */
  readonly mentionsWords: boolean
}

const ofWords =
  /\b(?:words?|spell\w*|letters?|means?|meaning|rhyme|pronounc\w+|grammar|sentence|plural|comma|spaces?|capital letters?)\b/i

function readQuestion(text: string): Question {
  const mark = /[?.!]$/.exec(text)?.[0] ?? ''
  const body = mark ? text.slice(0, -1) : text
  const first = /^[A-Za-z]+/.exec(body)?.[0] ?? ''
  const isCapital = /^[A-Z]/.test(first) && first !== 'I' && smallWords.has(first.toLowerCase())
  const begun = (isCapital ? first[0]?.toLowerCase() + body.slice(1) : body).replace(/\bI\b/g, 'i')
  return { text, body: begun, mark, isCapital, mentionsWords: ofWords.test(text) }
}

const request = /^(?:define|tell|please|explain|show|list|give|name|steps|ways|i'd|i was|i want) /i

/** Applies a rewrite to a text without its mark and initial capital, and restores them. A rewrite of the `whole` text gets it unchanged. */
function rewrite(question: Question, change: Rewrite = () => null, random: Random, whole = false): string | null {
  const { text, body, mark, isCapital } = question
  if (whole) return change(text, random)
  const changed = change(body, random)
  if (changed === null) return null
  const clean = changed
    .replace(/\s+/g, ' ')
    .replace(/ ([,?])/g, '$1')
    .replace(/,+ ?(?=,|$)/, '')
    .trim()
  const spoken = fixArticles(clean, text).replace(/\bi\b(?!\.)/g, /\bi\b/.test(text) ? 'i' : 'I')
  const started = isCapital || /^[A-Z]/.test(text) ? (spoken[0] ?? '').toUpperCase() + spoken.slice(1) : spoken
  const sentences = isCapital
    ? started.replace(/([.?!] )([a-z])/g, (_, end: string, letter: string) => end + letter.toUpperCase())
    : started
  if (/[?.!]$/.test(sentences)) return sentences
  const isRequest = request.test(sentences) && !/:|how$/.test(sentences)
  return (
    sentences + (mark === '?' && isRequest ? '.' : mark === '.' && !isRequest && !/[?.!] /.test(sentences) ? '?' : mark)
  )
}

/** Corrects "a" and "an" where the text before the change did not have the same two words. */
function fixArticles(text: string, before: string): string {
  return text.replace(/\ban? ([a-z]+)/gi, (found, word: string) => {
    if (before.toLowerCase().includes(found.toLowerCase())) return found
    return `${/^(?:[aeio]|u(?!s|ni|k))/i.test(word) && !/^(?:one|eu)/i.test(word) ? 'an' : 'a'} ${word}`
  })
}

/** Parts of patterns that many rows share. */
const macros: Readonly<Record<string, string>> = {
  ask: '(?:how (?:do|can|should|would|could) (?:i|you|we)|how to|(?:can|should|may|must) (?:i|you|we)|do i (?:need|have) to|(?:where|when|why) (?:do|can|should) (?:i|you|we)|(?:want|need|way|possible|allowed|safe|legal|have) to)',
  own: '(?:the|my|your|our|his|her|their)',
  thing: "((?:(?:the|my|your|our|his|her|their|an?) )?[\\w'-]+(?: [\\w'-]+){0,2})",
  bare: '((?!(?:an?|the|my|your|our|his|her|their|this|that|these|it|some|there|up|going|best|good|i|you|he|she|we|they)\\b)[\\w-]+(?: (?!of\\b|in\\b|for\\b|to\\b|and\\b|or\\b)[\\w-]+)?)',
}

/** Reads a table: `[kind cap]`, then rows of `pattern => text / text`, or `word / word / word`, of which each replaces each. */
function* readKinds(table: string, label: 0 | 1): Generator<Kind> {
  for (const part of table.split(/^\[/m).slice(1)) {
    const [heading = '', ...lines] = part.trim().split('\n')
    const [, name = '', cap] = /^(.+?)(?: (\d+))?\]/.exec(heading) ?? []
    const rewrites = lines
      .filter(line => line.trim() !== '')
      .map(line => (line.includes('=>') ? readRow(line) : readWords(line, label)))
    yield { name, label, cap: Number(cap ?? KIND_CAP), rewrites }
  }
}

function readRow(line: string): Rewrite {
  const [pattern = '', texts = ''] = line.split('=>')
  const expression = new RegExp(pattern.trim().replace(/\{(\w+)\}/g, (_, name: string) => macros[name] ?? ''))
  const results = texts.split(' / ').map(each => each.trim())
  return (text, random) =>
    expression.test(text)
      ? text.replace(expression, `${pick(results, random)}${/ $/.test(expression.exec(text)?.[0] ?? '') ? ' ' : ''}`)
      : null
}

function readWords(line: string, label: 0 | 1): Rewrite {
  const words = line.split(' / ').map(each => each.trim())
  const expression = new RegExp(`(?<![\\w'.-])(?:${words.join('|').replace(/[+.]/g, '\\$&')})(?![\\w'+#-])`, 'i')
  return (text, random) => {
    if (label === 1 && ofTitles.test(text)) return null
    const found = expression.exec(text)?.[0]
    // A name needs its capital, unless it is nothing else: "may" and "turkey" are not read as names.
    if (
      found === undefined ||
      (!words.includes(found) && words.every(word => /[A-Z]/.test(word)) && !isUnambiguousName(found))
    )
      return null
    const others = words.filter(
      word =>
        word.toLowerCase() !== found.toLowerCase() && !` ${text} `.toLowerCase().includes(` ${word.toLowerCase()} `),
    )
    if (others.length === 0) return null
    const other = pick(others, random)
    return text.replace(expression, () => (found === found.toLowerCase() ? other.toLowerCase() : other))
  }
}

/** A word of a title cannot be replaced by a synonym. */
const ofTitles =
  /\b(?:wrote|written|direct\w+|sang|sings?|starr\w+|author|actors?|title|watch|cast|plays|played|song|diary|who is in) /

/** Pairs of frames about a thing: two frames of a row, frames of two rows, and a frame about two things. */
function* makeFramed(random: Random): Generator<ContrastPair> {
  for (const part of frames.split(/^\[/m).slice(1)) {
    const [heading = '', ...lines] = part.trim().split('\n')
    const things = heading.replace(/\]$/, '').split(', ')
    const rows = lines.filter(Boolean).map(line => line.split(' / '))
    const fill = (frame: string, thing: string) => {
      const text = frame.replaceAll('{}', thing).replace(/\bi\b/g, 'I')
      return (
        (text[0] ?? '').toUpperCase() + text.slice(1) + (/^(?:please|explain|tell|show|give)\b/.test(frame) ? '.' : '?')
      )
    }
    for (const row of rows) {
      for (const thing of shuffle([...things], random).slice(0, 7)) {
        const [one = '', two = ''] = shuffle([...row], random)
        if (two) yield { a: fill(one, thing), b: fill(two, thing), label: 1, category: 'synonymous frame' }
        const other = pick(
          rows.filter(each => each !== row),
          random,
        )
        if (other && random(10) < 8)
          yield { a: fill(one, thing), b: fill(pick(other, random), thing), label: 0, category: 'other frame' }
        const another = pick(
          things.filter(each => each !== thing),
          random,
        )
        if (random(10) < 6)
          yield { a: fill(one, thing), b: fill(two || one, another), label: 0, category: 'other thing' }
      }
    }
  }
}

/** The kinds that no table can express. */
function computedKinds(questions: readonly string[], label: 0 | 1): Kind[] {
  const kind = (name: string, cap: number, ...rewrites: Rewrite[]): Kind => ({ name, label, cap, rewrites })
  if (label === 1) {
    return [
      kind('letter case', 900, ...[lowerCase, upperCase, titleCase].map(onlySafeCase)),
      kind('typo', 900, misspell),
    ]
  }
  return [
    kind('number', 600, changeNumber),
    kind('head and modifier', 400, swapNouns),
    kind('modifier dropped', 800, dropModifier),
    kind('noun neighbour', 900, createNeighbours(questions, 'n')),
    kind('verb neighbour', 600, createNeighbours(questions, 'v')),
    kind('adjective neighbour', 400, createNeighbours(questions, 'a')),
  ]
}

function changeNumber(text: string, random: Random): string | null {
  const all = [...text.matchAll(/(?<![\w.,#'-])\d{1,6}(?![\w]*[.'-]?\w)/g)]
  if (all.length === 0) return null
  const found = pick(all, random)
  const value = Number(found[0])
  const other = Math.abs(value + pick([1, -1, 2, 1, -2, 10], random))
  return text.slice(0, found.index) + (other === value ? value + 1 : other) + text.slice(found.index + found[0].length)
}

const compound =
  /(?<=\b(?:my|the|an?|your|our|of|for|with) )([a-z]{3,}) ([a-z]{3,})(?= (?:in|on|for|with|at|from|to|of|without)\b|[?.,]|$)/
const isNoun = (word: string) => word.length > 2 && !smallWords.has(word) && lemmasOf(word)[0]?.kind === 'n'

function swapNouns(text: string): string | null {
  const [both, one = '', two = ''] = compound.exec(text) ?? []
  return both && isNoun(one) && isNoun(two) && countSenses(one, 'a') === 0
    ? text.replace(`${one} ${two}`, `${two} ${one}`)
    : null
}

function dropModifier(text: string): string | null {
  const [both, one = '', two = ''] = compound.exec(text) ?? []
  const kind = lemmasOf(one)[0]?.kind
  return both && (kind === 'n' || kind === 'a') && !smallWords.has(one) && isNoun(two) ? text.replace(both, two) : null
}

/** Words of a part of speech, where they stand for certain. */
const places = {
  n: /(?<=\b(?:the|an?|my|your|our|of|for|with) (?:[a-z]+ )?)[a-z]{4,}(?= (?:in|on|for|with|at|from|to|of|without|is|and|or)\b|[?.,]|$)/,
  v: new RegExp(`(?<=\\b${macros.ask} )[a-z]{3,}`, 'i'),
  a: /(?<=\b(?:the|an?|my|your|is it|are|some) )[a-z]{4,}(?= [a-z]{4,})/,
} as const

/** Returns a rewrite that replaces a word by an opposite or a neighbour from the same place of another question. */
function createNeighbours(questions: readonly string[], kind: keyof typeof places): Rewrite {
  const isOfKind = (word: string) =>
    !smallWords.has(word) &&
    lemmasOf(word).some(lemma => lemma.word === word && lemma.kind === kind) &&
    (kind === 'v' ||
      (['n', 'v', 'a', 'r'] as const).every(
        other => other === kind || countSenses(word, other) * 2 <= countSenses(word, kind),
      ))
  const words = questions.flatMap(text => places[kind].exec(text)?.[0] ?? []).filter(isOfKind)
  return (text, random) => {
    const word = places[kind].exec(text)?.[0] ?? ''
    if (!isOfKind(word)) return null
    for (let tries = 0; tries < 120; tries++) {
      const other = pick(words, random)
      const relation = findWordRelation(word, other)
      if (relation === 'opposite' || (relation === 'neighbour' && kind !== 'a'))
        return text.replace(places[kind], other)
    }
    return null
  }
}

/** A changed case is the same question only if no word becomes another word or a name: "Word", "US", "May". */
function onlySafeCase(change: Rewrite): Rewrite {
  const isSafe = (word: string) =>
    word === 'I' ||
    word === word.toLowerCase() ||
    isUnambiguousName(word.toLowerCase()) ||
    !isEnglishWord(word.toLowerCase())
  return (text, random) =>
    (text.match(/[A-Za-z']+/g) ?? []).every(isSafe) && !/\b(?:us|it'?s|i)\b(?<!I)/.test(text)
      ? change(text, random)
      : null
}

const lowerCase = (text: string) => text.toLowerCase().replace(/[?.!]$/, '')
const upperCase = (text: string) => text.toUpperCase()
const titleCase = (text: string) => text.replace(/(?<![\w'])[a-z]/g, first => first.toUpperCase())

function misspell(text: string, random: Random): string | null {
  const words = (text.match(/(?<![\w'-])[a-z]{6,}(?![\w'-])/g) ?? []).filter(isEnglishWord)
  if (words.length === 0) return null
  const word = pick(words, random)
  const at = 1 + random(word.length - 3)
  const [start, one, two, end] = [word.slice(0, at), word[at], word[at + 1], word.slice(at + 2)]
  const wrong = pick([start + two + one + end, start + two + end, start + one + one + two + end], random)
  return isEnglishWord(wrong) || wrong === word ? null : text.replace(new RegExp(`\\b${word}\\b`), wrong)
}
