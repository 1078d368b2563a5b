/** Decides whether two questions ask the same: plain questions only, four laws, and for everything else the learned verifier. */
import type { NormalizedPrompt } from '../text/normalize-prompt.ts'
import { countCommon, type Features } from './compared-pair.ts'
import { pairFeatures } from './pair-features.ts'
import { haveEqualIdentifiers, type Question, readQuestion } from './question-words.ts'
import { findStrongest, modelFor, readModel, scoreFeatures } from './trees.ts'

/** A project's operating point of the verifier. */
export type SemanticRisk = 'careful' | 'balanced' | 'generous'

/** What two questions that ask the same never differ in. */
export type Law = 'number' | 'identifier' | 'negation' | 'opposite'

/** Why texts are not compared by the verifier, or may not match whatever it says. */
export type MatchVeto = 'prose' | Law

export interface PairVerdict {
  /** From 0 to 1; 0 with a veto other than `opposite`, and for questions that share too few words. At the operating point of the project's risk it is 0.95, the default threshold. */
  readonly score: number
  readonly veto: MatchVeto | null
}

/** A number of the pair, and what it took from the log odds. */
export type Objection = readonly [name: string, effect: number]

const MAX_WORDS = 40
const MAX_SENTENCES_BEFORE = 1
/** Words, names and numbers with their signs, without code, quotations or line breaks. */
const plain = /^[\p{Script=Latin}\d' .,:?!()/+#%$€£&_-]+$/u
const MAX_OBJECTIONS = 3
/** Pairs with a smaller share of common content words are not compared: the verifier would serve hardly one in two hundred of them. */
const MIN_COMMON_CONTENT = 1 / 3
/** The same for the words alone below `generous`: none of 480 pairs of the board that are served has less. Comparing costs most of a miss. */
const MIN_COMMON_CONTENT_OF_WORDS = 1 / 2
/** The score at a risk's operating point. */
export const POINT_SCORE = 0.95
const POINT_LOG_ODDS = Math.log(POINT_SCORE / (1 - POINT_SCORE))

/** Returns whether other wordings may match the prompt: one or two plain sentences. Otherwise only an equal normalized text does. */
export function isPlainQuestion(prompt: NormalizedPrompt): boolean {
  return readPlainQuestion(prompt) !== null
}

function readPlainQuestion({ isProse, normalized, owner }: NormalizedPrompt): Question | null {
  if (!isProse || !plain.test(normalized)) return null
  const question = readQuestion(normalized, owner)
  const { words, content, sentencesBefore } = question
  const isPlain = content.length > 0 && words.length <= MAX_WORDS && sentencesBefore <= MAX_SENTENCES_BEFORE
  return isPlain ? question : null
}

/**
 * Compares two prompts; `cosine` is that of their normalized texts in the space of the cosine model, or null for a verdict by the words alone.
 * Symmetric.
 */
export function verifyPair(
  asked: NormalizedPrompt,
  cached: NormalizedPrompt,
  risk: SemanticRisk,
  cosine: number | null = null,
): PairVerdict {
  const [ours, theirs] = [readPlainQuestion(asked), readPlainQuestion(cached)]
  if (!ours || !theirs) return { score: 0, veto: 'prose' }
  const veto = findPlainLaw(ours, theirs)
  const leastShare = cosine === null && risk !== 'generous' ? MIN_COMMON_CONTENT_OF_WORDS : MIN_COMMON_CONTENT
  if (veto !== null || shareContent(ours, theirs) < leastShare) return { score: 0, veto }
  const features = pairFeatures(ours, theirs, cosine)
  const logOdds = scoreFeatures(features) - readModel(modelFor(features)).points[risk] + POINT_LOG_ODDS
  return { score: 1 / (1 + Math.exp(-logOdds)), veto: findOpposite(features) }
}

/** The share of the longer question's content words that the other has, by base form. */
function shareContent({ bases: one }: Question, { bases: other }: Question): number {
  return countCommon(one, other) / Math.max(one.size, other.size)
}

/** Returns the numbers that spoke most against the pair, by the model that `verifyPair` asks. */
export function findObjections(
  asked: NormalizedPrompt,
  cached: NormalizedPrompt,
  cosine: number | null = null,
): readonly Objection[] {
  return findStrongest(pairFeatures(questionOf(asked), questionOf(cached), cosine), MAX_OBJECTIONS)
}

function questionOf({ normalized, owner }: NormalizedPrompt): Question {
  return readQuestion(normalized, owner)
}

/** Returns the law that forbids to serve the pair, whatever its score. */
export function findBrokenLaw(asked: NormalizedPrompt, cached: NormalizedPrompt, features: Features): Law | null {
  return findPlainLaw(questionOf(asked), questionOf(cached)) ?? findOpposite(features)
}

/** Returns the broken law that needs no comparison of the words. */
function findPlainLaw(ours: Question, theirs: Question): Law | null {
  if (ours.numbers !== theirs.numbers) return 'number'
  if (!haveEqualIdentifiers(ours, theirs) || differInUnitCase(ours, theirs)) return 'identifier'
  return ours.isNegated === theirs.isNegated ? null : 'negation'
}

/** Returns whether a unit of one letter is a capital in one question only: "5m", "5M". Whoever types no capitals may mean either. */
function differInUnitCase({ units: one }: Question, { units: other }: Question): boolean {
  return one !== other && one.toLowerCase() === other.toLowerCase()
}

function findOpposite(features: Features): Law | null {
  return features.get('opposites') > 0 ? 'opposite' : null
}
