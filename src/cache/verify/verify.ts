/** Decides whether two similar questions in plain prose ask the same: no rule vetoes the pair, and every content word has a counterpart. */
import { baseFormOf, findWordRelation, lemmasOf } from '../text/lexicon.ts'
import type { NormalizedPrompt } from '../text/normalize-prompt.ts'
import { type AlignmentFailure, alignQuestions, type UnequalWords } from './align-questions.ts'
import { parseQuestionCached } from './embedding-text.ts'
import type { ParsedQuestion, UnsupportedQuestionReason } from './question.ts'

/** A project's risk level. It decides which differences of words are accepted. */
export type SemanticRisk = 'careful' | 'balanced' | 'generous'

/** The similarity of a pair and the project's settings. */
export interface MatchEvidence {
  readonly similarity: number
  readonly threshold: number
  readonly risk: SemanticRisk
  /** True when the vectors measure meaning. Then a pair of words that are related in the lexicon may be accepted. */
  readonly isSemantic: boolean
}

/** The reason why a pair is not served. */
export type MatchVeto =
  | UnsupportedQuestionReason
  | AlignmentFailure
  | 'question'
  | 'opposite'
  | 'neighbour'
  | 'letter-case'
  | 'words'

/** Returns the parsed question, or the reason why the prompt is not a plain question. */
export function parsePromptQuestion(prompt: NormalizedPrompt): ParsedQuestion | UnsupportedQuestionReason {
  return prompt.isProse ? parseQuestionCached(prompt.normalized, prompt.owner) : 'prose'
}

/** Returns whether other wordings may match the prompt. Otherwise only an equal normalized text does. */
export function isPlainQuestion(prompt: NormalizedPrompt): boolean {
  return typeof parsePromptQuestion(prompt) !== 'string'
}

/** Returns null when the two prompts ask the same, or else the reason against it. Symmetric. Does not compare similarity with the threshold. */
export function findVeto(asked: NormalizedPrompt, cached: NormalizedPrompt, evidence: MatchEvidence): MatchVeto | null {
  const [ours, theirs] = [parsePromptQuestion(asked), parsePromptQuestion(cached)]
  if (typeof ours === 'string') return typeof theirs === 'string' && theirs < ours ? theirs : ours
  if (typeof theirs === 'string') return theirs
  if (ours.frame !== theirs.frame) return 'question'
  const unequal = alignQuestions(ours, theirs)
  if (unequal === 'inflection' && evidence.risk === 'generous') return null
  if (typeof unequal === 'string') return unequal
  if (unequal.length === 0 && /[.!] |(?:like|best)$/.test(ours.frame)) return null
  return vetoUnequalWords(unequal, Math.min(ours.words.length, theirs.words.length), evidence)
}

const MIN_WORDS = 2
const MIN_WORDS_FOR_DIFFERENCE = 3
const SHORT_QUESTION_MARGIN = 0.015

/** Returns the reason against pairs of unequal words. Null when they are accepted. */
function vetoUnequalWords(pairs: readonly UnequalWords[], count: number, evidence: MatchEvidence): MatchVeto | null {
  if (pairs.some(([one, other]) => one.toLowerCase() === other.toLowerCase())) return 'letter-case'
  const unequal = evidence.risk === 'generous' ? pairs.filter(([one, other]) => !sharesRoot(one, other)) : pairs
  if (unequal.length === 0) return count < MIN_WORDS ? 'short' : null
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

/** Returns whether the question is too short for a differing word. In short questions, the threshold is higher. */
function isShort(count: number, { similarity, threshold, isSemantic }: MatchEvidence): boolean {
  if (count < MIN_WORDS || count >= MIN_WORDS_FOR_DIFFERENCE) return count < MIN_WORDS
  return !isSemantic || similarity <= threshold + SHORT_QUESTION_MARGIN
}

/** Returns whether the words are forms of one word, such as two tenses, or a plural with its own meaning. */
function sharesRoot(one: string, other: string): boolean {
  const ours = new Set(lemmasOf(one.toLowerCase()).map(({ word }) => word))
  return lemmasOf(other.toLowerCase()).some(({ word }) => ours.has(word))
}
