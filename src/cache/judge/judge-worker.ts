/** Works through the queue of pairs for the judge, slowly and off every request's path. Any process takes any project's pairs. */
import { DeadlineTimer } from '../../event-loop/deadline-timer.ts'
import { callFunction, type RowOf } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import type { ContentSeal } from '../../stores/content-seal.ts'
import type { Log } from '../../telemetry/log.ts'
import type { VerdictRecorder } from '../../telemetry/proxy-metrics.ts'
import type { InternalCallTrace, Tracing } from '../../telemetry/tracing/request-trace.ts'
import { classifyContext } from '../text/context-kind.ts'
import { normalizePrompt } from '../text/normalize-prompt.ts'
import { mainDifferenceKind } from '../verify/difference.ts'
import { type JudgeCall, type PrepareJudgeCall, requestVerdict } from './judge-call.ts'
import { buildJudgeMessages, JUDGE_SCHEMA, type Verdict } from './judge-prompt.ts'

export interface JudgeWorker {
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

type QueuedPair = RowOf<'claim_judgements'>

export interface JudgeWorkerOptions {
  database: Database
  seal: ContentSeal
  prepareCall: PrepareJudgeCall
  /** Null where nothing is traced. */
  tracing: Pick<Tracing, 'startTask'> | null
  log: Log
  recordVerdict: VerdictRecorder
}

export function createJudgeWorker(options: JudgeWorkerOptions): JudgeWorker {
  const { database, log } = options
  const stopping = new AbortController()
  const judge = createPairJudge(options, stopping.signal)
  let working: Promise<void> | null = null
  const alarm = new DeadlineTimer(() => {
    working ??= work().finally(() => {
      working = null
    })
  })

  function workIn(delayMs: number): void {
    if (!stopping.signal.aborted) alarm.schedule(delayMs)
  }

  async function work(): Promise<void> {
    try {
      const pairs = await callFunction(database, 'claim_judgements', { at_most: MAX_BATCH })
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
  { database, seal, prepareCall, tracing, log, recordVerdict }: JudgeWorkerOptions,
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
    const day = await callFunction(database, 'reserve_judgement', reserved)
    if (day === null) return putBack()

    const limit = AbortSignal.any([stopping, AbortSignal.timeout(ASK_TIME_LIMIT_MS)])
    const trace = tracing?.startTask({ purpose: 'judge', project })
    const { verdict, isSure, costUsd, cause } = await askInTurn(calls, limit, trace)
    trace?.end()
    const money = { of_project: project_id, of_day: day, correction_usd: costUsd - estimatedUsd }
    await callFunction(database, 'settle_judgement', { ...describe(pair, isSure), ...money, verdict })
    if (verdict !== null) recordVerdict('judge', verdict)
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
    return callFunction(database, 'requeue_judgements', { of_project: project_id, taken: id, ...how })
  }

  return judge
}

/** Returns null where no key opens it any more, or the questions are one: nobody could tell while they were sealed. */
function openPair(pair: QueuedPair, seal: ContentSeal): QueuedPair | null {
  const [context, asked, cached] = [pair.context, pair.asked, pair.cached].map(text =>
    seal.openText(text, pair.project_id),
  )
  return context && asked && cached && asked !== cached ? { ...pair, context, asked, cached } : null
}

/** Returns null when the pair is too long to be judged. */
function writeBothWays({ context, asked, cached }: QueuedPair) {
  const pair = { context: JSON.parse(context), asked, cached }
  const forth = buildJudgeMessages(pair)
  const back = buildJudgeMessages({ ...pair, asked: cached, cached: asked })
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
async function askInTurn(calls: readonly JudgeCall[], signal: AbortSignal, trace?: InternalCallTrace): Promise<Judged> {
  const verdicts: Verdict[] = []
  let costUsd = 0
  for (const call of calls) {
    const answered = await requestVerdict(call, signal, trace)
    costUsd += answered.costUsd
    if (answered.verdict === null) return { ...answered, isSure: false, costUsd }
    verdicts.push(answered.verdict)
  }
  const isSure = new Set(verdicts).size === 1
  return { verdict: isSure && verdicts[0] === 'same' ? 'same' : 'different', isSure, costUsd }
}

/** The verdict's subject, as it is stored. */
function describe(pair: QueuedPair, isSure: boolean) {
  const context = classifyContext(JSON.parse(pair.context))
  const isEqual = normalizePrompt(pair.asked, context).normalized === normalizePrompt(pair.cached, context).normalized
  const difference = isEqual ? null : mainDifferenceKind(pair.asked, pair.cached)
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
