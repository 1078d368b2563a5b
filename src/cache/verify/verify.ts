/** Decides whether two similar questions in plain prose ask the same: no veto speaks against it, and every content word has its partner. */
import { baseFormOf, findWordRelation, lemmasOf } from '../text/lexicon.ts'
import type { NormalizedPrompt } from '../text/normalize-prompt.ts'
import { type AlignmentFailure, alignQuestions, type UnequalWords } from './align-questions.ts'
import { parseQuestionCached } from './embedding-text.ts'
import type { NotPlainReason, ParsedQuestion } from './question.ts'

/** How much a project risks: which differences of words may be explained, and by what. */
export type SemanticRisk = 'careful' | 'balanced' | 'generous'

/** What is known of a pair besides its texts. */
export interface MatchEvidence {
  readonly similarity: number
  readonly threshold: number
  readonly risk: SemanticRisk
  /** Whether the vectors tell meaning, not only wording: then a word that the lexicon relates to the one in its place may be explained by them. */
  readonly isSemantic: boolean
}

/** Why a pair is not served: what speaks against it. */
export type MatchVeto =
  | NotPlainReason
  | AlignmentFailure
  | 'question'
  | 'opposite'
  | 'neighbour'
  | 'letter-case'
  | 'words'

/** A plain question; or why it is none. */
export function parsePromptQuestion(reading: NormalizedPrompt): ParsedQuestion | NotPlainReason {
  return reading.isProse ? parseQuestionCached(reading.normalized, reading.owner) : 'prose'
}

/** Whether other words may ask the same; else only its own normal form does. */
export function isPlainQuestion(reading: NormalizedPrompt): boolean {
  return typeof parsePromptQuestion(reading) !== 'string'
}

/** Null when the two ask the same; else what speaks against it. Symmetric. The similarity must exceed the threshold besides. */
export function findVeto(asked: NormalizedPrompt, cached: NormalizedPrompt, evidence: MatchEvidence): MatchVeto | null {
  const [ours, theirs] = [parsePromptQuestion(asked), parsePromptQuestion(cached)]
  if (typeof ours === 'string') return typeof theirs === 'string' && theirs < ours ? theirs : ours
  if (typeof theirs === 'string') return theirs
  if (ours.frame !== theirs.frame) return 'question'
  const unequal = alignQuestions(ours, theirs)
  if (unequal === 'inflection' && evidence.risk === 'generous') return null
  if (typeof unequal === 'string') return unequal
  if (unequal.length === 0 && /[.!] |(?:like|best)$/.test(ours.frame)) return null
  return explain(unequal, Math.min(ours.words.length, theirs.words.length), evidence)
}

const FEWEST_WORDS = 2
const FEWEST_TO_EXPLAIN = 3
const MARGIN = 0.015

/** What speaks against words without an equal partner. */
function explain(pairs: readonly UnequalWords[], count: number, evidence: MatchEvidence): MatchVeto | null {
  if (pairs.some(([one, other]) => one.toLowerCase() === other.toLowerCase())) return 'letter-case'
  const unequal = evidence.risk === 'generous' ? pairs.filter(([one, other]) => !sharesRoot(one, other)) : pairs
  if (unequal.length === 0) return count < FEWEST_WORDS ? 'short' : null
  if (unequal.some(([one, other]) => sharesRoot(one, other))) return 'inflection'
  const relations = unequal.map(([one, other]) =>
    findWordRelation(baseFormOf(one.toLowerCase()), baseFormOf(other.toLowerCase())),
  )
  if (relations.includes('opposite')) return 'opposite'
  if (relations.includes('neighbour')) return 'neighbour'
  if (evidence.risk === 'careful' || isShort(count, evidence)) return 'words'
  if (relations.every(relation => relation === 'synonym')) return null
  return evidence.isSemantic && !relations.includes(null) ? null : 'words'
}

/** Of few words, one that differs is much: the threshold rises. */
function isShort(count: number, { similarity, threshold, isSemantic }: MatchEvidence): boolean {
  if (count < FEWEST_WORDS || count >= FEWEST_TO_EXPLAIN) return count < FEWEST_WORDS
  return !isSemantic || similarity <= threshold + MARGIN
}

/** Two forms of one word that are not the same: another tense, or a plural with a sense of its own. */
function sharesRoot(one: string, other: string): boolean {
  const ours = new Set(lemmasOf(one.toLowerCase()).map(({ word }) => word))
  return lemmasOf(other.toLowerCase()).some(({ word }) => ours.has(word))
}
