/** Reads what a question asks for: a thing, a person, a time, a reason, a number, yes or no. */
import { wordSet } from '../lexicon/word-list.ts'
import type { Token } from './token.ts'

export type QuestionKind =
  | 'what'
  | 'which'
  | 'who'
  | 'whose'
  | 'when'
  | 'where'
  | 'why'
  | 'how'
  | 'how many'
  | 'how much'
  | 'how long'
  | 'how often'
  | 'how far'
  | 'how old'
  | 'how degree'
  | 'yes or no'
  | 'open'

const questionWords = new Map<string, QuestionKind>([
  ['what', 'what'],
  ["what's", 'what'],
  ['whats', 'what'],
  ['wat', 'what'],
  ['which', 'which'],
  ['who', 'who'],
  ["who's", 'who'],
  ['whom', 'who'],
  ['whose', 'whose'],
  ['when', 'when'],
  ["when's", 'when'],
  ['where', 'where'],
  ["where's", 'where'],
  ['why', 'why'],
  ["why's", 'why'],
  ['how', 'how'],
  ["how's", 'how'],
  ['howdo', 'how'],
])

/** "What" before these asks for what another question word asks for. */
const nounKinds = new Map<string, QuestionKind>([
  ['time', 'when'],
  ['year', 'when'],
  ['date', 'when'],
  ['day', 'when'],
  ['month', 'when'],
  ['reason', 'why'],
  ['reasons', 'why'],
  ['place', 'where'],
  ['location', 'where'],
  ['person', 'who'],
])

const howKinds = new Map<string, QuestionKind>([
  ['many', 'how many'],
  ['much', 'how much'],
  ['long', 'how long'],
  ['often', 'how often'],
  ['frequently', 'how often'],
  ['far', 'how far'],
  ['old', 'how old'],
  ['come', 'why'],
  ['soon', 'when'],
])

const degrees = wordSet(
  'big small large tall high deep wide fast slow heavy hot cold good bad difficult hard easy strong safe accurate important effective expensive cheap dangerous common popular likely close quickly well reliable rich successful',
)
const timeUnits = wordSet('seconds minutes hours days weeks months years business working')
const auxiliaries = wordSet(`
  is are was were am do does did has have had can could should would will shall may might must
  isn't aren't wasn't weren't don't doesn't didn't hasn't haven't hadn't can't couldn't shouldn't wouldn't won't
  isnt arent dont doesnt didnt cant cannot ain't
`)
const skipped = wordSet(
  'please pls plz kindly hi hello hey so and but ok okay also well then just in on at to for from by with of about during until since under',
)
const requestVerbs = wordSet(
  'tell explain describe show give list name define summarize summarise outline clarify elaborate provide find write compare discuss state specify share teach help let check look confirm recommend suggest translate convert calculate compute solve generate create',
)
const lookahead = 5

/** The kinds of the first question in the text; more than one for "where and how". `open` where no question word decides. */
export function readQuestionKinds(tokens: readonly Token[]): ReadonlySet<QuestionKind> {
  const start = skipWhile(tokens, 0, token => skipped.has(token.key))
  const first = tokens[start]
  if (first === undefined) return new Set(['open'])
  if (questionWords.has(first.key)) return kindsAt(tokens, start)
  if (auxiliaries.has(first.key)) return kindOfAuxiliary(tokens, start)
  return questionIn(tokens, start, start + lookahead + 2) ?? new Set(['open'])
}

function kindsAt(tokens: readonly Token[], at: number): Set<QuestionKind> {
  const kinds = new Set([kindAt(tokens, at)])
  const second = tokens[at + 2]
  if (/^(?:and|or)$/.test(tokens[at + 1]?.key ?? '') && questionWords.has(second?.key ?? ''))
    kinds.add(kindAt(tokens, at + 2))
  return kinds
}

function kindAt(tokens: readonly Token[], at: number): QuestionKind {
  const kind = questionWords.get(tokens[at]?.key ?? '') ?? 'open'
  const next = tokens[at + 1]?.key ?? ''
  if (kind === 'how') return howKind(next, tokens[at + 2]?.key ?? '')
  if (kind !== 'what' && kind !== 'which') return kind
  const noun = next === 'is' || next === 'are' || next === 'was' ? nounAfterThe(tokens, at + 2) : next
  return nounKinds.get(noun) ?? kind
}

/** Only "the reason" is asked for by "what is the reason": "what is the time" is a question of its own. */
function nounAfterThe(tokens: readonly Token[], at: number): string {
  const noun = tokens[at]?.key === 'the' ? (tokens[at + 1]?.key ?? '') : ''
  return noun === 'reason' || noun === 'reasons' || noun === 'location' ? noun : ''
}

function howKind(next: string, afterNext: string): QuestionKind {
  if (next === 'many' && timeUnits.has(afterNext)) return 'how long'
  if (next === 'much' && afterNext === 'time') return 'how long'
  return howKinds.get(next) ?? (degrees.has(next) ? 'how degree' : 'how')
}

function kindOfAuxiliary(tokens: readonly Token[], at: number): Set<QuestionKind> {
  const subject = tokens[at + 1]?.key
  const verbAt = skipWhile(tokens, at + 2, token => skipped.has(token.key))
  const verb = tokens[verbAt]?.key ?? ''
  if (subject === 'you' && (requestVerbs.has(verb) || verb === 'know')) {
    return questionIn(tokens, verbAt, verbAt + lookahead) ?? new Set([verb === 'know' ? 'yes or no' : 'open'])
  }
  if (asksForWay(tokens, at)) return new Set(['how'])
  return new Set(['yes or no'])
}

/** "Is there a way to …", "are there any tips for …": asked in the hope of hearing how. */
function asksForWay(tokens: readonly Token[], at: number): boolean {
  if (tokens[at + 1]?.key !== 'there') return false
  return tokens.slice(at + 2, at + 6).some(token => /^(?:ways?|tips?|methods?|tricks?)$/.test(token.key))
}

function questionIn(tokens: readonly Token[], from: number, to: number): Set<QuestionKind> | undefined {
  for (let at = from; at < Math.min(to, tokens.length); at += 1) {
    const key = tokens[at]?.key ?? ''
    if (questionWords.has(key)) return kindsAt(tokens, at)
    if (at > from && (key === 'if' || key === 'whether')) return new Set(['yes or no'])
  }
  return undefined
}

function skipWhile(tokens: readonly Token[], from: number, isSkipped: (token: Token) => boolean): number {
  let at = from
  for (let token = tokens[at]; token !== undefined && isSkipped(token); token = tokens[at]) at += 1
  return at
}
