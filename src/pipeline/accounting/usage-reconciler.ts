/**
 * Requests the usage of stored responses from their providers, if a record estimates it: of background responses, and of interrupted ones.
 * It works in the background, and any process does so for any project.
 */
import { AGGREGATOR, type Catalogue, computeCostUsd } from '../../catalogue/catalogue.ts'
import { omitImplausibleCost } from '../../catalogue/reported-cost.ts'
import { BackgroundWork } from '../../event-loop/background-work.ts'
import { DeadlineTimer } from '../../event-loop/deadline-timer.ts'
import { apiFormatOf } from '../../formats/endpoint-formats.ts'
import { isJsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import type { TokenUsage } from '../../formats/token-usage.ts'
import { readUsage } from '../../formats/usage/read-usage.ts'
import { type ArgumentsOf, callFunction, type RowOf } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import type { UsageRecord } from '../../postgres/usage-record.ts'
import { readPlainResponse } from '../../providers/analyze-response.ts'
import type { ModelRouter, RoutingContext } from '../../providers/model-router.ts'
import { readAllBytes } from '../../providers/read-bytes.ts'
import type { Provider, UpstreamResponse } from '../../providers/upstream.ts'
import type { Log } from '../../telemetry/log.ts'
import { storageProviderNameOf } from '../ownership/claim-ids.ts'

export type ReconciliationRequest = ArgumentsOf<'queue_reconciliation'>
type ResponseId = ArgumentsOf<'delete_unreconciled_response'>
type UnreconciledResponse = RowOf<'claim_unreconciled_responses'>

export interface UsageReconciler {
  /** Queues a response; its usage is requested from the provider later. */
  reconcileLater(response: ReconciliationRequest): void
  /** Resolves when all responses are queued in the database, or the time limit has passed. */
  drain(timeLimitMs: number): Promise<void>
  stop(): Promise<void>
}

export interface ReconcilerOptions {
  database: Database
  modelRouter: Pick<ModelRouter, 'findResponseStorage'>
  catalogue: Pick<Catalogue, 'find'>
  log: Pick<Log, 'failures'>
  /** Defaults to POLL_INTERVAL_MS. */
  pollEveryMs?: number | undefined
}

const POLL_INTERVAL_MS = 5_000
const MAX_CONCURRENT_REQUESTS = 8
const REQUEST_TIME_LIMIT_MS = 30_000
const NOT_FOUND = 404

export function createUsageReconciler({
  database,
  modelRouter,
  catalogue,
  log: { failures },
  pollEveryMs = POLL_INTERVAL_MS,
}: ReconcilerOptions): UsageReconciler {
  const queueing = new BackgroundWork()
  const stopping = new AbortController()
  let running: Promise<void> | null = null
  const timer = new DeadlineTimer(() => {
    running ??= poll().finally(() => {
      running = null
    })
  })

  async function poll(): Promise<void> {
    try {
      const rows = await callFunction(database, 'claim_unreconciled_responses', { max_rows: MAX_CONCURRENT_REQUESTS })
      await Promise.all(rows.map(reconcile))
      failures.recover('stored_objects')
    } catch (error) {
      if (!stopping.signal.aborted) failures.report('stored_objects', error, 'unreconciled responses cannot be read')
    }
    schedulePoll()
  }

  function schedulePoll(): void {
    if (!stopping.signal.aborted) timer.schedule(pollEveryMs)
  }

  /** Settles one response, if its provider reports the usage. If it does not yet, the response is claimed again later. */
  async function reconcile(stored: UnreconciledResponse): Promise<void> {
    const provider = findStorageProvider(stored, modelRouter)
    if (!provider || provider.pricedAs === null) return
    const remove = (response: ResponseId) => callFunction(database, 'delete_unreconciled_response', response)
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(REQUEST_TIME_LIMIT_MS)])
    const { request, isStoredLate, read } = findSource(provider, stored.id)
    try {
      const response = await request(provider, stored.id, signal)
      if (!response) return
      if (response.status !== 200) await response.body.cancel()
      const known = { of_project: stored.project_id, response_id: stored.id }
      if (response.status === NOT_FOUND && !isStoredLate) await remove(known)
      if (response.status !== 200) return
      const { usage: reported, model } = await read(response, provider, stored.project_id)
      const find = (name: string) => catalogue.find(provider.pricedAs, name)
      const isKnown = reported !== null && !reported.missing && isModelOf(stored.model, model)
      const usage = isKnown ? omitImplausibleCost(reported, provider, find(stored.model)) : null
      const usd = usage && computeCostUsd(find(stored.model), usage, find)
      if (usage && usd !== null)
        await callFunction(database, 'reconcile_response', {
          ...known,
          read_tokens: usage.promptTokens,
          cached_tokens: usage.cachedPromptTokens,
          written_tokens: usage.completionTokens,
          cost: usd,
        })
    } catch {
      // The response is claimed again later.
    }
  }

  schedulePoll()

  return {
    reconcileLater(response) {
      const queued = callFunction(database, 'queue_reconciliation', response).catch(error =>
        failures.report('stored_objects', error, 'a response cannot be queued for reconciliation', { part: 'follow' }),
      )
      void queueing.add(queued.then(() => {}))
    },
    drain: limitMs => queueing.drain(limitMs),
    async stop() {
      stopping.abort()
      timer.clear()
      await running
    },
  }
}

/** An endpoint of a provider that reports a stored response's usage. */
interface UsageSource {
  /** Returns undefined if the provider stores no responses. */
  request(provider: Provider, id: string, signal: AbortSignal): Promise<UpstreamResponse> | undefined
  /** Whether a 404 means that the response is not stored yet, rather than deleted. */
  isStoredLate: boolean
  read(
    response: UpstreamResponse,
    provider: Provider,
    owner: number,
  ): Promise<{ usage: TokenUsage | null; model: unknown }>
}

const createStoredSource = (endpoint: 'responses' | 'chat', path: string, isStoredLate: boolean): UsageSource => ({
  request: ({ sendStored }, id, signal) =>
    sendStored?.({ method: 'GET', path: `${path}/${id}`, query: '', headers: new Headers(), signal }),
  isStoredLate,
  read: ({ body }, { name }, owner) =>
    readPlainResponse(body, name, { endpoint, expected: apiFormatOf(endpoint).readExpectedOutput({}), owner }),
})
const RESPONSES = createStoredSource('responses', '/responses', false)
/** Chat completions with `store: true`, once they are complete: https://platform.openai.com/docs/api-reference/chat/get */
const CHAT_COMPLETIONS = createStoredSource('chat', '/chat/completions', true)
const READ = { method: 'GET', body: null, hasSideEffects: false, isDownload: false } as const
const GENERATIONS: UsageSource = {
  request: (provider, id, signal) =>
    provider.passThrough?.({ ...READ, path: `/generation?id=${id}`, headers: new Headers(), signal }),
  isStoredLate: true,
  read: async ({ body }, { name }) => readGenerationUsage(await readAllBytes(body, name)),
}

function findSource(provider: Provider, id: string): UsageSource {
  if (isGenerationId({ provider, id })) return GENERATIONS
  return id.startsWith('chatcmpl-') ? CHAT_COMPLETIONS : RESPONSES
}

/** Whether the response is of the requested model. Responses may add a date to the model's name. */
function isModelOf(requested: string, reported: unknown): boolean {
  return typeof reported === 'string' && withoutVendor(reported).startsWith(withoutVendor(requested))
}

function withoutVendor(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1)
}

function findStorageProvider(stored: UnreconciledResponse, modelRouter: ReconcilerOptions['modelRouter']) {
  const context = { ...stored, key_type: 'project', allowed_models: [], key_allowed_models: null }
  const [name, key] = stored.provider.split('/')
  const provider = modelRouter.findResponseStorage(context as RoutingContext, name)
  return key === undefined ? provider : (provider?.withKey?.(key) ?? provider)
}

/** The ids of OpenRouter's generation records. */
const GENERATION_ID = /^gen-[\w-]+$/

export function isGenerationId({ provider, id }: { provider: Pick<Provider, 'kind'>; id: string }): boolean {
  return provider.kind === AGGREGATOR && GENERATION_ID.test(id)
}

/**
 * Reads a generation record of OpenRouter, which has a response's cost some seconds later, even if it was interrupted. Returns null for a field
 * that the record does not report. https://openrouter.ai/docs/api-reference/get-a-generation
 */
export function readGenerationUsage(body: Uint8Array): { model: unknown; usage: TokenUsage | null } {
  const data = parseJsonObject(new TextDecoder().decode(body))?.data
  if (!isJsonObject(data)) return { model: null, usage: null }
  const usage = readUsage(
    {
      prompt_tokens: data.native_tokens_prompt ?? data.tokens_prompt,
      completion_tokens: data.native_tokens_completion ?? data.tokens_completion,
      prompt_tokens_details: { cached_tokens: data.native_tokens_cached },
      cost: data.total_cost,
      is_byok: data.is_byok,
      cost_details: { upstream_inference_cost: data.upstream_inference_cost },
    },
    data.service_tier,
  )
  return { model: data.model, usage }
}

/** Queues a response whose usage is estimated, if its provider stores it. */
export function reconcileEstimatedUsage(
  { id, provider, key }: { id: string; provider: Provider; key: string | null },
  { cost_estimated, spent = [], project_id, request_id, recorded_at, duration_ms }: UsageRecord,
  { reconcileLater }: Pick<UsageReconciler, 'reconcileLater'>,
): void {
  const [part, another] = spent
  // If a request made several calls, the usage of one response does not settle the others.
  if (!cost_estimated || !part || another) return
  // The usage of an aggregator's response can be read with a shared key, so the project's own key is not named.
  const storageProvider = provider.kind === AGGREGATOR ? AGGREGATOR : storageProviderNameOf(provider, key)
  if (storageProvider === null) return
  const reservedAt = new Date(Date.parse(recorded_at) - duration_ms).toISOString()
  reconcileLater({
    of_project: project_id,
    response_id: id,
    of_provider: storageProvider,
    of_request: request_id,
    recorded: recorded_at,
    // A reservation is charged to the period in which it was made.
    charged: part.id === null ? recorded_at : reservedAt,
    estimated_usd: part.usd,
  })
}
