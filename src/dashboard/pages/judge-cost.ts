/** Estimates the daily cost of judging near misses with a model, based on the near misses of the last week. */
import type { Calibration, Project, Route } from './types.ts'

/** Tokens of the judge's prompt: instructions, a short context and two questions. The judge returns one word in JSON. */
const JUDGE_PROMPT_TOKENS = 500
const COMPLETION_TOKENS = 10
/** The judge compares each pair in both orders. */
const CALLS_PER_PAIR = 2
const DAY_SECONDS = 86_400

/** Candidates in order of preference, if the project configures no model. They support JSON schemas and are inexpensive. */
export const DEFAULT_JUDGE_MODELS = ['gpt-4.1-mini', 'openai/gpt-4.1-mini', 'claude-haiku-4-5']

type Judge = Route & Record<'input_usd_per_million' | 'output_usd_per_million', number>

/** Returns the first chat model that has a provider and a known price. */
export function chooseJudgeModel(routes: readonly Route[]): Judge | undefined {
  return routes.find(
    (route): route is Judge =>
      route.kind === 'chat' &&
      route.provider !== null &&
      route.input_usd_per_million !== null &&
      route.output_usd_per_million !== null,
  )
}

/** Estimates the pairs to judge per day, from the recorded near misses. */
export function estimateDailyPairs(
  histogram: Calibration['histogram'],
  floor: number,
  created: Project['created_at'],
  nowSeconds: number,
): number {
  const days = Math.min(7, Math.max(1, (nowSeconds - created) / DAY_SECONDS))
  const pairs = histogram.filter(({ at_least }) => at_least > floor - 1e-9).map(({ stopped }) => stopped)
  return pairs.reduce((sum, each) => sum + each, 0) / days
}

/** Returns the cost of judging one pair, in US dollars. */
export function estimatePairCost({ input_usd_per_million, output_usd_per_million }: Judge): number {
  return (
    (CALLS_PER_PAIR * (JUDGE_PROMPT_TOKENS * input_usd_per_million + COMPLETION_TOKENS * output_usd_per_million)) /
    1_000_000
  )
}
