/** Works through the queue of pairs for the judge, slowly and off every request's path. Any process takes any project's pairs. */
import { Alarm } from '../../event-loop/alarm.ts'
import { call, type RowOf } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import type { AnswerSeal } from '../../stores/answer-seal.ts'
import type { Log } from '../../telemetry/log.ts'
import type { NoteVerdict } from '../../telemetry/proxy-metrics.ts'
import type { AsideTrace, Tracing } from '../../telemetry/tracing/request-trace.ts'
import { contextKindOf } from '../text/context-kind.ts'
import { readPrompt } from '../text/read-prompt.ts'
import { kindOfDifference } from '../verify/difference.ts'
import { JUDGE_SCHEMA, type Verdict, writeJudgeMessages } from './judge-prompt.ts'
import { askForVerdict, type ModelCall, type PrepareModelCall } from './model-call.ts'

export interface Learner {
  /** Starts on queued pairs soon. */
  wake(): void
  /** Aborts what is in flight; any process takes those pairs up again later. */
  stop(): Promise<void>
}

/** Pairs per batch; a pause follows each. This bounds how fast a process asks. */
const MAX_BATCH = 8
const PAUSE_MS = 500
/** Looks for pairs that other processes queued or abandoned. */
const LOOK_EVERY_MS = 5_000
const LOOK_AGAIN_AFTER_FAILURE_MS = 25_000
/** Generous, because no request waits for this verdict. */
const ASK_TIME_LIMIT_MS = 30_000
/** Pause when the project has no budget left, or no route to the model. */
const NO_MEANS_SECONDS = 600
const FAILED_SECONDS = 30
const MOST_FAILED_SECONDS = 3_600

type QueuedPair = RowOf<'take_judgements'>

export interface LearnerOptions {
  database: Database
  seal: AnswerSeal
  prepareCall: PrepareModelCall
  /** Null where nothing is traced. */
  tracing: Pick<Tracing, 'beginTask'> | null
  log: Log
  noteVerdict: NoteVerdict
}

export function createLearner(options: LearnerOptions): Learner {
  const { database, log } = options
  const stopping = new AbortController()
  const judge = createPairJudge(options, stopping.signal)
  let working: Promise<void> | null = null
  const alarm = new Alarm(() => {
    working ??= work().finally(() => {
      working = null
    })
  })

  function workIn(delayMs: number): void {
    if (!stopping.signal.aborted) alarm.setIn(delayMs)
  }

  async function work(): Promise<void> {
    try {
      const pairs = await call(database, 'take_judgements', { at_most: MAX_BATCH })
      await Promise.all(pairs.map(judge))
      log.failures.recover('judge')
      workIn(pairs.length > 0 ? PAUSE_MS : LOOK_EVERY_MS)
    } catch (error) {
      if (!stopping.signal.aborted) log.failures.report('judge', error, 'queued pairs could not be judged')
      workIn(LOOK_AGAIN_AFTER_FAILURE_MS)
    }
  }

  workIn(LOOK_EVERY_MS)

  return {
    wake: () => workIn(PAUSE_MS),
    async stop() {
      stopping.abort()
      alarm.clear()
      await working
    },
  }
}

/** Judges one queued pair: both orders are asked, and the verdict is settled. Without one, the project is left alone for a while. */
function createPairJudge(
  { database, seal, prepareCall, tracing, log, noteVerdict }: LearnerOptions,
  stopping: AbortSignal,
): (pair: QueuedPair) => Promise<void> {
  /** Consecutive failures of each project's judge. */
  const failures = new Map<number, number>()

  async function judge(queued: QueuedPair): Promise<void> {
    const pair = openPair(queued, seal)
    // It stays until the queue gives it up after five attempts.
    if (!pair) return
    const { project_id, project_name: project } = pair
    const putBack = () => postpone(pair, { for_seconds: NO_MEANS_SECONDS, was_tried: false })
    const questions = writeBothWays(pair)
    if (!questions) return
    const account = { ...pair, key_type: 'project' as const }
    const calls = questions.map(messages => prepareCall(account, messages, JUDGE_SCHEMA)).filter(call => call !== null)
    if (calls.length < questions.length) return putBack()
    const estimatedUsd = calls.reduce((sum, call) => sum + call.estimatedUsd, 0)
    const reserved = { of_project: project_id, at_most_usd: estimatedUsd }
    const day = await call(database, 'reserve_judgement', reserved)
    if (day === null) return putBack()

    const limit = AbortSignal.any([stopping, AbortSignal.timeout(ASK_TIME_LIMIT_MS)])
    const trace = tracing?.beginTask({ purpose: 'judge', project })
    const { verdict, isSure, costUsd, cause } = await askInTurn(calls, limit, trace)
    trace?.end()
    const money = { of_project: project_id, of_day: day, correction_usd: costUsd - estimatedUsd }
    await call(database, 'settle_judgement', { ...describe(pair, isSure), ...money, verdict })
    if (verdict !== null) noteVerdict('judge', verdict)
    if (verdict === null && !stopping.aborted) await leaveAlone(pair, cause)
    else failures.delete(project_id)
  }

  async function leaveAlone(pair: QueuedPair, cause: unknown): Promise<void> {
    const { project_id, project_name } = pair
    const inARow = failures.get(project_id) ?? 0
    failures.set(project_id, inARow + 1)
    const forSeconds = Math.min(MOST_FAILED_SECONDS, FAILED_SECONDS * 2 ** inARow)
    log.warn({ project: project_name, forSeconds, cause }, 'the judge gave no verdict to learn from; it is left alone')
    await postpone(pair, { for_seconds: forSeconds, was_tried: true })
  }

  function postpone({ id, project_id }: QueuedPair, how: { for_seconds: number; was_tried: boolean }): Promise<void> {
    return call(database, 'postpone_judgements', { of_project: project_id, taken: id, ...how })
  }

  return judge
}

/** Returns null where no key opens it any more, or the questions are one: nobody could tell while they were sealed. */
function openPair(pair: QueuedPair, seal: AnswerSeal): QueuedPair | null {
  const [context, asked, cached] = [pair.context, pair.asked, pair.cached].map(text =>
    seal.openText(text, pair.project_id),
  )
  return context && asked && cached && asked !== cached ? { ...pair, context, asked, cached } : null
}

/** Returns null when the pair is too long to be judged. */
function writeBothWays({ context, asked, cached }: QueuedPair) {
  const pair = { context: JSON.parse(context), asked, cached }
  const forth = writeJudgeMessages(pair)
  const back = writeJudgeMessages({ ...pair, asked: cached, cached: asked })
  return forth && back && [forth, back]
}

interface Judged {
  /** Null when the model failed, or replied with something else. */
  verdict: Verdict | null
  /** Whether both verdicts are the same. */
  isSure: boolean
  costUsd: number
  cause?: unknown
}

/** The verdict is "same" only if every call says so: a model whose verdict depends on the order is unsure. */
async function askInTurn(calls: readonly ModelCall[], signal: AbortSignal, trace?: AsideTrace): Promise<Judged> {
  const verdicts: Verdict[] = []
  let costUsd = 0
  for (const call of calls) {
    const answered = await askForVerdict(call, signal, trace)
    costUsd += answered.costUsd
    if (answered.verdict === null) return { ...answered, isSure: false, costUsd }
    verdicts.push(answered.verdict)
  }
  const isSure = new Set(verdicts).size === 1
  return { verdict: isSure && verdicts[0] === 'same' ? 'same' : 'different', isSure, costUsd }
}

/** The verdict's subject, as it is stored. */
function describe(pair: QueuedPair, isSure: boolean) {
  const context = contextKindOf(JSON.parse(pair.context))
  const isEqual = readPrompt(pair.asked, context).normalized === readPrompt(pair.cached, context).normalized
  const difference = isEqual ? null : kindOfDifference(pair.asked, pair.cached)
  return {
    context_hash: pair.context_hash,
    asked_hash: pair.asked_hash,
    entry_hash: pair.cached_hash,
    until: pair.expires_at,
    // Calibration counts only pairs that the rules leave, and verdicts that are sure.
    similarity: difference === null || !isSure ? null : pair.similarity,
    difference,
    source: pair.is_review ? 'review' : 'judge',
    queued_id: pair.id,
  }
}
