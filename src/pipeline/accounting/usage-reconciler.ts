/**
 * Requests from providers, in the background, the usage of responses whose cost is estimated and that they keep: made in the background, or
 * ended early. Any process does so for any project.
 */
import { type Catalogue, computeCostUsd } from '../../catalogue/catalogue.ts'
import { omitImplausibleCost } from '../../catalogue/reported-cost.ts'
import { BackgroundWork } from '../../event-loop/background-work.ts'
import { DeadlineTimer } from '../../event-loop/deadline-timer.ts'
import { withTimeout } from '../../event-loop/timeouts.ts'
import { apiFormatOf } from '../../formats/endpoint-formats.ts'
import type { TokenUsage } from '../../formats/token-usage.ts'
import { type ArgumentsOf, callFunction, type RowOf } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import { readPlainResponse } from '../../providers/analyze-response.ts'
import type { ModelRouter, RoutingContext } from '../../providers/model-router.ts'
import { readAllBytes } from '../../providers/read-bytes.ts'
import type { Provider, UpstreamResponse } from '../../providers/upstream.ts'
import type { Log } from '../../telemetry/log.ts'
import { isGenerationId, readGenerationUsage } from './openrouter-generation.ts'

export type ReconciliationRequest = ArgumentsOf<'queue_reconciliation'>
type OpenResponse = RowOf<'claim_unreconciled_responses'>

export interface UsageReconciler {
  reconcileLater(response: ReconciliationRequest): void
  /** Resolves when all that are to be followed are noted, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
  stop(): Promise<void>
}

export interface ReconcilerOptions {
  database: Database
  modelRouter: Pick<ModelRouter, 'findResponseStorage'>
  catalogue: Pick<Catalogue, 'find'>
  log: Pick<Log, 'failures'>
  /** By default LOOK_EVERY_MS. */
  pollEveryMs?: number | undefined
}

const LOOK_EVERY_MS = 5_000
const MOST_AT_ONCE = 8
const ASK_TIME_LIMIT_MS = 30_000
const GONE = 404

export function createUsageReconciler({
  database,
  modelRouter,
  catalogue,
  log: { failures },
  pollEveryMs = LOOK_EVERY_MS,
}: ReconcilerOptions): UsageReconciler {
  const noting = new BackgroundWork()
  const stopping = new AbortController()
  let working: Promise<void> | null = null
  const alarm = new DeadlineTimer(() => {
    working ??= work().finally(() => {
      working = null
    })
  })

  async function work(): Promise<void> {
    try {
      await Promise.all(
        (await callFunction(database, 'claim_unreconciled_responses', { at_most: MOST_AT_ONCE })).map(ask),
      )
      failures.recover('stored_objects')
    } catch (error) {
      if (!stopping.signal.aborted) failures.report('stored_objects', error, 'open responses could not be read')
    }
    lookLater()
  }

  function lookLater(): void {
    if (!stopping.signal.aborted) alarm.schedule(pollEveryMs)
  }

  /** What its provider does not say now, it may say later. */
  async function ask(open: OpenResponse): Promise<void> {
    const provider = keeperOf(open, modelRouter)
    const pricedAs = provider?.pricedAs ?? null
    if (!provider || pricedAs === null) return
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(ASK_TIME_LIMIT_MS)])
    const { request, isLate, read } = findSource(provider, open.id)
    try {
      const answer = await request(provider, open.id, signal)
      if (!answer) return
      if (answer.status !== 200) await answer.body.cancel()
      const known = { of_project: open.project_id, response_id: open.id }
      if (answer.status === GONE && !isLate) await callFunction(database, 'delete_unreconciled_response', known)
      if (answer.status !== 200) return
      const { usage: told, model } = await read(answer, provider, open.project_id)
      const find = (name: string) => catalogue.find(pricedAs, name)
      const isKnown = told !== null && !told.missing && isOf(open.model, model)
      const usage = isKnown ? omitImplausibleCost(told, provider, find(open.model)) : null
      const usd = usage && computeCostUsd(find(open.model), usage, find)
      if (usage && usd !== null)
        await callFunction(database, 'reconcile_response', {
          ...known,
          read_tokens: usage.promptTokens,
          cached_tokens: usage.cachedPromptTokens,
          written_tokens: usage.completionTokens,
          cost: usd,
        })
    } catch {
      // It comes again.
    }
  }

  lookLater()

  return {
    reconcileLater(response) {
      const noted = callFunction(database, 'queue_reconciliation', response).catch(error =>
        failures.report('stored_objects', error, 'a response cannot be reconciled later', { part: 'follow' }),
      )
      void noting.add(noted.then(() => {}))
    },
    async drain(limitMs) {
      await withTimeout(limitMs, noting.settled()).catch(() => {})
    },
    async stop() {
      stopping.abort()
      alarm.clear()
      await working
    },
  }
}

/** Where a provider says what a response used. */
interface Source {
  /** Undefined where the provider keeps none. */
  request(provider: Provider, id: string, signal: AbortSignal): Promise<UpstreamResponse> | undefined
  /** Whether it is not there yet, rather than gone, at first. */
  isLate: boolean
  read(
    answer: UpstreamResponse,
    provider: Provider,
    owner: number,
  ): Promise<{ usage: TokenUsage | null; model: unknown }>
}

const createStoredSource = (endpoint: 'responses' | 'chat', path: string, isLate: boolean): Source => ({
  request: ({ sendStored }, id, signal) =>
    sendStored?.({ method: 'GET', path: `${path}/${id}`, query: '', headers: new Headers(), signal }),
  isLate,
  read: ({ body }, { name }, owner) =>
    readPlainResponse(body, name, { endpoint, expected: apiFormatOf(endpoint).readExpectedOutput({}), owner }),
})
const RESPONSES = createStoredSource('responses', '/responses', false)
/** Of requests with `store: true`, once they are complete: https://platform.openai.com/docs/api-reference/chat/get */
const CHAT_COMPLETIONS = createStoredSource('chat', '/chat/completions', true)
const READ = { method: 'GET', body: null, hasSideEffects: false, isDownload: false } as const
const GENERATIONS: Source = {
  request: (provider, id, signal) =>
    provider.passThrough?.({ ...READ, path: `/generation?id=${id}`, headers: new Headers(), signal }),
  isLate: true,
  read: async ({ body }, { name }) => readGenerationUsage(await readAllBytes(body, name)),
}

function findSource(provider: Provider, id: string): Source {
  if (isGenerationId({ provider, id })) return GENERATIONS
  return id.startsWith('chatcmpl-') ? CHAT_COMPLETIONS : RESPONSES
}

/** What another model has used is not what is asked for. Answers name a model with its date. */
function isOf(asked: string, answered: unknown): boolean {
  return typeof answered === 'string' && withoutVendor(answered).startsWith(withoutVendor(asked))
}

function withoutVendor(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1)
}

function keeperOf(open: OpenResponse, modelRouter: ReconcilerOptions['modelRouter']) {
  const account = { ...open, key_type: 'project', allowed_models: [], key_allowed_models: null }
  const [name, key] = open.provider.split('/')
  const provider = modelRouter.findResponseStorage(account as RoutingContext, name)
  return key === undefined ? provider : (provider?.withKey?.(key) ?? provider)
}
