/**
 * Asks providers, in the background, for the usage of responses whose cost was presumed and that they keep: made in the background, or left by
 * their clients. Any process asks for any project's.
 */
import { type Catalogue, costUsd } from '../../catalogue/catalogue.ts'
import { checkReportedCost } from '../../catalogue/reported-cost.ts'
import { Alarm } from '../../event-loop/alarm.ts'
import { BackgroundWork } from '../../event-loop/background-work.ts'
import { withinTimeLimit } from '../../event-loop/time-limit.ts'
import { formatOf } from '../../formats/format-of.ts'
import { type ArgumentsOf, call, type RowOf } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import type { ModelRouter, Routed } from '../../providers/model-router.ts'
import { readPlain } from '../../providers/read-response.ts'
import { describeCause } from '../../telemetry/describe-cause.ts'
import type { Log } from '../../telemetry/log.ts'

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
  log: Pick<Log, 'warn'>
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
  log,
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
    } catch (error) {
      if (!stopping.signal.aborted) log.warn({ cause: describeCause(error) }, 'open responses could not be asked for')
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
    if (!provider?.askStored || pricedAs === null) return
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(ASK_TIME_LIMIT_MS)])
    const asked = { method: 'GET' as const, path: `/responses/${open.id}`, query: '', headers: new Headers(), signal }
    try {
      const answer = await provider.askStored(asked)
      if (answer.status !== 200) await answer.body.cancel()
      const known = { of_project: open.project_id, response_id: open.id }
      if (answer.status === GONE) await call(database, 'forget_open_response', known)
      if (answer.status !== 200) return
      const { usage: told, model } = await readPlain(answer.body, provider.name, {
        endpoint: 'responses',
        wanted: formatOf('responses').wantedOf({}),
        owner: open.project_id,
      })
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
        log.warn({ cause: describeCause(error) }, 'a response cannot be asked for later'),
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
