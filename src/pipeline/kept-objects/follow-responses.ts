/**
 * Requests from providers, in the background, the usage of responses whose cost is estimated and that they keep: made in the background, or
 * ended early. Any process does so for any project.
 */
import { type Catalogue, costUsd } from '../../catalogue/catalogue.ts'
import { checkReportedCost } from '../../catalogue/reported-cost.ts'
import { Alarm } from '../../event-loop/alarm.ts'
import { BackgroundWork } from '../../event-loop/background-work.ts'
import { withinTimeLimit } from '../../event-loop/time-limit.ts'
import { formatOf } from '../../formats/format-of.ts'
import type { TokenUsage } from '../../formats/token-usage.ts'
import { type ArgumentsOf, call, type RowOf } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import type { ModelRouter, Routed } from '../../providers/model-router.ts'
import { readAll } from '../../providers/read-bytes.ts'
import { readPlain } from '../../providers/read-response.ts'
import type { Provider, UpstreamAnswer } from '../../providers/upstream.ts'
import type { Log } from '../../telemetry/log.ts'
import { passTo } from './ask-object.ts'
import { isGeneration, readGeneration } from './generation.ts'

export type ResponseToFollow = ArgumentsOf<'follow_response'>
type OpenResponse = RowOf<'take_open_responses'>

export interface ResponseFollower {
  follow(response: ResponseToFollow): void
  /** Resolves when all that are to be followed are noted, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
  stop(): Promise<void>
}

export interface FollowerOptions {
  database: Database
  modelRouter: Pick<ModelRouter, 'keeperOf'>
  catalogue: Pick<Catalogue, 'find'>
  log: Pick<Log, 'failures'>
  /** By default LOOK_EVERY_MS. */
  lookEveryMs?: number | undefined
}

const LOOK_EVERY_MS = 5_000
const MOST_AT_ONCE = 8
const ASK_TIME_LIMIT_MS = 30_000
const GONE = 404

export function createResponseFollower({
  database,
  modelRouter,
  catalogue,
  log: { failures },
  lookEveryMs = LOOK_EVERY_MS,
}: FollowerOptions): ResponseFollower {
  const noting = new BackgroundWork()
  const stopping = new AbortController()
  let working: Promise<void> | null = null
  const alarm = new Alarm(() => {
    working ??= work().finally(() => {
      working = null
    })
  })

  async function work(): Promise<void> {
    try {
      await Promise.all((await call(database, 'take_open_responses', { at_most: MOST_AT_ONCE })).map(ask))
      failures.recover('stored_objects')
    } catch (error) {
      if (!stopping.signal.aborted) failures.report('stored_objects', error, 'open responses could not be read')
    }
    lookLater()
  }

  function lookLater(): void {
    if (!stopping.signal.aborted) alarm.setIn(lookEveryMs)
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
      if (answer.status === GONE && !isLate) await call(database, 'forget_open_response', known)
      if (answer.status !== 200) return
      const { usage: told, model } = await read(answer, provider, open.project_id)
      const find = (name: string) => catalogue.find(pricedAs, name)
      const isKnown = told !== null && !told.missing && isOf(open.model, model)
      const usage = isKnown ? checkReportedCost(told, provider, find(open.model)) : null
      const usd = usage && costUsd(find(open.model), usage, find)
      if (usage && usd !== null)
        await call(database, 'settle_response', {
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
    follow(response) {
      const noted = call(database, 'follow_response', response).catch(error =>
        failures.report('stored_objects', error, 'a response cannot be reconciled later', { part: 'follow' }),
      )
      void noting.add(noted.then(() => {}))
    },
    async drain(limitMs) {
      await withinTimeLimit(limitMs, noting.settled()).catch(() => {})
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
  request(provider: Provider, id: string, signal: AbortSignal): Promise<UpstreamAnswer> | undefined
  /** Whether it is not there yet, rather than gone, at first. */
  isLate: boolean
  read(answer: UpstreamAnswer, provider: Provider, owner: number): Promise<{ usage: TokenUsage | null; model: unknown }>
}

const createStoredSource = (endpoint: 'responses' | 'chat', path: string, isLate: boolean): Source => ({
  request: ({ askStored }, id, signal) =>
    askStored?.({ method: 'GET', path: `${path}/${id}`, query: '', headers: new Headers(), signal }),
  isLate,
  read: ({ body }, { name }, owner) =>
    readPlain(body, name, { endpoint, wanted: formatOf(endpoint).wantedOf({}), owner }),
})
const RESPONSES = createStoredSource('responses', '/responses', false)
/** Of requests with `store: true`, once they are complete: https://platform.openai.com/docs/api-reference/chat/get */
const CHAT_COMPLETIONS = createStoredSource('chat', '/chat/completions', true)
const READ = { method: 'GET', body: null, leavesTrace: false, isDownload: false } as const
const GENERATIONS: Source = {
  request: (provider, id, signal) =>
    passTo(provider, { ...READ, path: `/generation?id=${id}`, headers: new Headers(), signal }),
  isLate: true,
  read: async ({ body }, { name }) => readGeneration(await readAll(body, name)),
}

function findSource(provider: Provider, id: string): Source {
  if (isGeneration({ provider, id })) return GENERATIONS
  return id.startsWith('chatcmpl-') ? CHAT_COMPLETIONS : RESPONSES
}

/** What another model has used is not what is asked for. Answers name a model with its date. */
function isOf(asked: string, answered: unknown): boolean {
  return typeof answered === 'string' && withoutVendor(answered).startsWith(withoutVendor(asked))
}

function withoutVendor(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1)
}

function keeperOf(open: OpenResponse, modelRouter: FollowerOptions['modelRouter']) {
  const account = { ...open, key_type: 'project', allowed_models: [], key_allowed_models: null }
  const [name, key] = open.provider.split('/')
  const provider = modelRouter.keeperOf(account as Routed, name)
  return key === undefined ? provider : (provider?.withKey?.(key) ?? provider)
}
