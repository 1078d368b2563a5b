/** Processes the queue of pairs for the judge in the background. Every process claims pairs of all projects. */
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
  /** Schedules the processing of queued pairs. */
  wake(): void
  /** Aborts the calls in flight. Their pairs are claimed again later by any process. */
  stop(): Promise<void>
}

/** Pairs per batch. A pause after each batch limits the rate of calls. */
const MAX_BATCH = 8
const PAUSE_MS = 500
/** Interval of polling for pairs that other processes queued or abandoned. */
const POLL_EVERY_MS = 5_000
const POLL_AFTER_FAILURE_MS = 25_000
/** Time limit of a call. It is long, because no request waits for this verdict. */
const CALL_TIME_LIMIT_MS = 30_000
/** Pause when the project has no budget left or no route to the model. */
const NO_BUDGET_SECONDS = 600
const FAILED_SECONDS = 30
const MAX_FAILED_SECONDS = 3_600

type QueuedPair = RowOf<'claim_judgements'>

export interface JudgeWorkerOptions {
  database: Database
  seal: ContentSeal
  prepareCall: PrepareJudgeCall
  /** Null without tracing. */
  tracing: Pick<Tracing, 'startTask'> | null
  log: Log
  recordVerdict: VerdictRecorder
}

export function createJudgeWorker(options: JudgeWorkerOptions): JudgeWorker {
  const { database, log } = options
  const stopping = new AbortController()
  const judge = createPairJudge(options, stopping.signal)
  let running: Promise<void> | null = null
  const timer = new DeadlineTimer(() => {
    running ??= work().finally(() => {
      running = null
    })
  })

  function scheduleWork(delayMs: number): void {
    if (!stopping.signal.aborted) timer.schedule(delayMs)
  }

  async function work(): Promise<void> {
    try {
      const pairs = await callFunction(database, 'claim_judgements', { max_rows: MAX_BATCH })
      await Promise.all(pairs.map(judge))
      log.failures.recover('judge')
      scheduleWork(pairs.length > 0 ? PAUSE_MS : POLL_EVERY_MS)
    } catch (error) {
      if (!stopping.signal.aborted) log.failures.report('judge', error, 'queued pairs could not be judged')
      scheduleWork(POLL_AFTER_FAILURE_MS)
    }
  }

  scheduleWork(POLL_EVERY_MS)

  return {
    wake: () => scheduleWork(PAUSE_MS),
    async stop() {
      stopping.abort()
      timer.clear()
      await running
    },
  }
}

/** Returns a function that judges one queued pair in both orders and records the verdict. Without a verdict, the project's pairs are postponed. */
function createPairJudge(
  { database, seal, prepareCall, tracing, log, recordVerdict }: JudgeWorkerOptions,
  stopping: AbortSignal,
): (pair: QueuedPair) => Promise<void> {
  /** Consecutive failures of each project's judge. */
  const failures = new Map<number, number>()

  async function judge(queued: QueuedPair): Promise<void> {
    const pair = openPair(queued, seal)
    // The pair stays queued until it is deleted after five attempts.
    if (!pair) return
    const { project_id, project_name: project } = pair
    const postponeUntried = () => postpone(pair, { for_seconds: NO_BUDGET_SECONDS, counts_attempt: false })
    const questions = buildBothOrders(pair)
    if (!questions) return
    const judgeAccount = { ...pair, key_type: 'project' as const }
    const calls = questions
      .map(messages => prepareCall(judgeAccount, messages, JUDGE_SCHEMA))
      .filter(call => call !== null)
    if (calls.length < questions.length) return postponeUntried()
    const estimatedUsd = calls.reduce((sum, call) => sum + call.estimatedUsd, 0)
    const reserved = { of_project: project_id, at_most_usd: estimatedUsd }
    const day = await callFunction(database, 'reserve_judgement', reserved)
    if (day === null) return postponeUntried()

    const limit = AbortSignal.any([stopping, AbortSignal.timeout(CALL_TIME_LIMIT_MS)])
    const trace = tracing?.startTask({ purpose: 'judge', project })
    const { verdict, isSure, costUsd, cause } = await requestVerdicts(calls, limit, trace)
    trace?.end()
    const money = { of_project: project_id, of_day: day, correction_usd: costUsd - estimatedUsd }
    await callFunction(database, 'settle_judgement', { ...describe(pair, isSure), ...money, verdict })
    if (verdict !== null) recordVerdict('judge', verdict)
    if (verdict === null && !stopping.aborted) await postponeAfterFailure(pair, cause)
    else failures.delete(project_id)
  }

  async function postponeAfterFailure(pair: QueuedPair, cause: unknown): Promise<void> {
    const { project_id, project_name } = pair
    const previousFailures = failures.get(project_id) ?? 0
    failures.set(project_id, previousFailures + 1)
    const forSeconds = Math.min(MAX_FAILED_SECONDS, FAILED_SECONDS * 2 ** previousFailures)
    log.warn(
      { project: project_name, forSeconds, cause },
      'the judge returned no verdict to learn from; its pairs are postponed',
    )
    await postpone(pair, { for_seconds: forSeconds, counts_attempt: true })
  }

  function postpone(
    { id, project_id }: QueuedPair,
    how: { for_seconds: number; counts_attempt: boolean },
  ): Promise<void> {
    return callFunction(database, 'requeue_judgements', { of_project: project_id, queued_id: id, ...how })
  }

  return judge
}

/** Opens a sealed pair. Returns null when no key opens it, or when both prompts are equal, which sealing had hidden. */
function openPair(pair: QueuedPair, seal: ContentSeal): QueuedPair | null {
  const [context, asked, cached] = [pair.context, pair.asked, pair.cached].map(text =>
    seal.openText(text, pair.project_id),
  )
  return context && asked && cached && asked !== cached ? { ...pair, context, asked, cached } : null
}

/** Builds the messages of both orders. Returns null when the pair is too long. */
function buildBothOrders({ context, asked, cached }: QueuedPair) {
  const pair = { context: JSON.parse(context), asked, cached }
  const forward = buildJudgeMessages(pair)
  const reverse = buildJudgeMessages({ ...pair, asked: cached, cached: asked })
  return forward && reverse && [forward, reverse]
}

interface CombinedVerdict {
  /** Null when the model failed or returned an invalid reply. */
  verdict: Verdict | null
  /** True when both orders have the same verdict. */
  isSure: boolean
  costUsd: number
  cause?: unknown
}

/** Sends the calls one after another. The verdict is "same" only if every call returns it, because a verdict that depends on the order is unsure. */
async function requestVerdicts(
  calls: readonly JudgeCall[],
  signal: AbortSignal,
  trace?: InternalCallTrace,
): Promise<CombinedVerdict> {
  const verdicts: Verdict[] = []
  let costUsd = 0
  for (const call of calls) {
    const result = await requestVerdict(call, signal, trace)
    costUsd += result.costUsd
    if (result.verdict === null) return { ...result, isSure: false, costUsd }
    verdicts.push(result.verdict)
  }
  const isSure = new Set(verdicts).size === 1
  return { verdict: isSure && verdicts[0] === 'same' ? 'same' : 'different', isSure, costUsd }
}

/** Returns the fields that identify the pair of a stored verdict. */
function describe(pair: QueuedPair, isSure: boolean) {
  const { kind: context } = classifyContext(JSON.parse(pair.context))
  const isEqual = normalizePrompt(pair.asked, context).normalized === normalizePrompt(pair.cached, context).normalized
  const difference = isEqual ? null : mainDifferenceKind(pair.asked, pair.cached)
  return {
    context_hash: pair.context_hash,
    asked_hash: pair.asked_hash,
    entry_hash: pair.cached_hash,
    until: pair.expires_at,
    // Calibration uses only pairs that the verifier left undecided, and sure verdicts.
    similarity: difference === null || !isSure ? null : pair.similarity,
    difference,
    source: pair.is_review ? 'review' : 'judge',
    queued_id: pair.id,
  }
}
