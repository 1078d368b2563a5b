/** What it would cost a day to have a model learn from near misses, by those of the last week. */
import { LOOKUP_SAMPLE_RATE, MIN_SAMPLED_SIMILARITY } from '../../cache/lookup-sampling.ts'
import type { Calibration, Project, Route } from './types.ts'

/** What the judge is told, a short context and two questions; it answers with one word in JSON. */
export const JUDGE_PROMPT_TOKENS = 500
const COMPLETION_TOKENS = 10
/** Each pair is asked about in both orders. */
const CALLS = 2
const DAY_SECONDS = 86_400

/** Tried in this order, where the project names no model: they answer in a schema, and cost little. */
export const DEFAULT_JUDGE_MODELS = ['gpt-4.1-mini', 'openai/gpt-4.1-mini', 'claude-haiku-4-5']

type Judge = Route & Record<'input_usd_per_million' | 'output_usd_per_million', number>

/** The first whose price is known, of those that somebody would answer. */
export function chooseJudgeModel(routes: readonly Route[]): Judge | undefined {
  return routes.find(
    (route): route is Judge =>
      route.kind === 'chat' &&
      route.provider !== null &&
      route.input_usd_per_million !== null &&
      route.output_usd_per_million !== null,
  )
}

interface Bounds {
  threshold: number
  /** Less similar pairs are not asked about. */
  floor: number
}

/** Below the threshold, each near miss that was seen stands for those that were not looked at. */
export function estimateDailyPairs(
  histogram: Calibration['histogram'],
  { threshold, floor }: Bounds,
  created: Project['created_at'],
  nowSeconds: number,
): number {
  const days = Math.min(7, Math.max(1, (nowSeconds - created) / DAY_SECONDS))
  const pairs = histogram
    .filter(({ at_least }) => at_least > Math.max(floor, MIN_SAMPLED_SIMILARITY) - 1e-9)
    .map(({ at_least, stopped }) => (at_least > threshold - 1e-9 ? stopped : stopped / LOOKUP_SAMPLE_RATE))
  return pairs.reduce((sum, each) => sum + each, 0) / days
}

/** In US dollars. */
export function estimatePairCost({ input_usd_per_million, output_usd_per_million }: Judge): number {
  return (
    (CALLS * (JUDGE_PROMPT_TOKENS * input_usd_per_million + COMPLETION_TOKENS * output_usd_per_million)) / 1_000_000
  )
}
