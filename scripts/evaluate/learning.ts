/** The value of a judge: asked during requests, and of what it has taught once it is not asked any more. */
import type { Door } from './door.ts'
import { fractionOf, JUDGE_MODEL, type StandInJudge } from './judge.ts'
import type { LabelledPair } from './pairs.ts'
import { type Outcome, scoreLines, share } from './score.ts'

export interface LearningOptions {
  door: Door
  judge: StandInJudge
  pairs: readonly LabelledPair[]
  /** Errors that `semantic_error_rate` allows. */
  errorRates: readonly string[]
  ask(pairs: readonly LabelledPair[]): Promise<Outcome[]>
}

const WITH_JUDGE = {
  semantic_policy: 'judged',
  semantic_judge_model: JUDGE_MODEL,
  semantic_judge_daily_usd: '1000',
  // Generous, because the proxy shares the machine with its clients.
  semantic_judge_timeout_ms: '30000',
}
/** Below the queue's limit per project. */
const PAIRS_A_ROUND = 500

const servedOf = (outcomes: readonly Outcome[]) => outcomes.filter(({ isServed }) => isServed).length

/** Each wording is asked once; the first of each pair was stored before. `proved` is what proof alone served of the same pairs. */
export async function inlineLines({ door, judge, pairs, ask }: LearningOptions, proved: readonly Outcome[]) {
  judge.reset()
  await door.set({ ...WITH_JUDGE, semantic_judge: 'inline', semantic_error_rate: '0' })
  const outcomes = await ask(pairs)
  const { right, same } = judge.tally()
  return [
    ...scoreLines('judged, inline', outcomes),
    `  the judge's own       ${share(right, same)} of what it called the same`,
    `  served, to proved     ${(servedOf(outcomes) / servedOf(proved)).toFixed(2)} times as many`,
  ]
}

/** Learns from one half and tests on the other, which shares no text with it. */
export async function learnLines({ door, pairs, errorRates, ask }: LearningOptions): Promise<string[]> {
  const [learned, tried] = halve(pairs)
  await door.set({ semantic_policy: 'proved', semantic_judge: 'off' })
  const proved = await ask(tried)
  await door.set({ ...WITH_JUDGE, semantic_judge: 'learn' })
  for (let start = 0; start < learned.length; start += PAIRS_A_ROUND) {
    await ask(learned.slice(start, start + PAIRS_A_ROUND))
    await untilJudged(door)
  }
  await door.set({ semantic_judge: 'off' })
  const lines = [
    `\nLearned from ${learned.length} pairs, tried on ${tried.length} of other texts: ${await countLearned(door)}`,
    ...scoreLines('proved, the other half', proved),
  ]
  for (const rate of ['0', ...errorRates]) {
    await door.set({ semantic_error_rate: rate })
    const outcomes = await ask(tried)
    lines.push(
      ...scoreLines(`judged, the other half, semantic_error_rate ${rate}`, outcomes),
      `  similarity learned    ${await learnedThreshold(door)}`,
      `  served, to proved     ${(servedOf(outcomes) / servedOf(proved)).toFixed(2)} times as many`,
    )
  }
  return lines
}

/** Pairs that share a text, directly or through others, stay together. */
export function halve(pairs: readonly LabelledPair[]): [LabelledPair[], LabelledPair[]] {
  const parents = new Map<string, string>()
  const rootOf = (text: string): string => {
    let root = text
    for (let parent = parents.get(root); parent !== undefined; parent = parents.get(root)) root = parent
    if (root !== text) parents.set(text, root)
    return root
  }
  for (const { a, b } of pairs) {
    const [one, other] = [rootOf(a), rootOf(b)]
    if (one !== other) parents.set(one, other)
  }
  const isFirst = ({ a }: LabelledPair) => fractionOf(rootOf(a)) < 0.5
  return [pairs.filter(isFirst), pairs.filter(pair => !isFirst(pair))]
}

async function untilJudged(door: Door): Promise<void> {
  // Recently queued pairs may not be written yet.
  await Bun.sleep(500)
  for (;;) {
    const [row] = await door.query<{ waiting: number }>(
      'select count(*)::integer as waiting from judge_queue where attempts < 5',
    )
    if (row?.waiting === 0) return
    await Bun.sleep(200)
  }
}

async function countLearned(door: Door): Promise<string> {
  const [row] = await door.query<{ same: number; different: number; learned: number }>(`
    select count(*) filter (where verdict = 'same')::integer as same, count(*) filter (where verdict = 'different')::integer as different,
      (select count(*)::integer from equivalences where state = 'learned') as learned
    from cache_verdicts`)
  return `${row?.same} verdicts same, ${row?.different} different, ${row?.learned} exchanges of words`
}

async function learnedThreshold(door: Door): Promise<string> {
  const [row] = await door.query<{ learned: number }>(
    `select learned_threshold as learned from projects where name = 'bench'`,
  )
  return row && row.learned <= 1 ? String(row.learned) : 'none'
}
