/** The responses of a session: each counts against the month when it begins, and is recorded when it is done. */

import { costUsd } from '../../catalogue/catalogue.ts'
import { readBounds } from '../../formats/bounds/read-bounds.ts'
import { isJsonObject, type JsonObject } from '../../formats/json/canonical.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import type { Account } from '../../postgres/admit.ts'
import type { Provider } from '../../providers/upstream.ts'
import { believedUsage, hasPricesFor, readPassedUsage, withCost } from '../pass-through/passed-usage.ts'
import { estimateUsage } from '../presumed-usage.ts'
import type { NotedQuery } from '../query.ts'
import type { AccountedRequest, RequestAccounting } from '../request-accounting.ts'
import type { Stages } from '../request-context.ts'
import type { EstimateCall } from '../spent-usage.ts'

export interface Responses {
  /** Responses that have begun and are not done. */
  readonly underWay: number
  /** Rejects with what admission throws: the session must end. */
  begin(event: JsonObject): Promise<void>
  done(event: JsonObject): Promise<void>
  /** The session ended, or failed, before those under way were done. */
  end(failure: Error): Promise<void>
}

interface UnderWay {
  accounting: RequestAccounting
  /** Whether the month had room for it. */
  isCounted: Promise<boolean>
}

interface Asker {
  request: AccountedRequest
  account: Account
  keyHash: string
  query: NotedQuery
  /** JSON; null for none. */
  tags: string | null
  provider: Provider
}

const FAILED_STATUS = 502

export function countResponses(
  { request, account, keyHash, query, tags, provider }: Asker,
  { admission, accounting: accounts, catalogue }: Pick<Stages, 'admission' | 'accounting' | 'catalogue'>,
): Responses {
  const underWay = new Map<unknown, UnderWay>()
  // What a session was told is not known here: a response may read all that its model takes.
  const { endpoint, model, body } = query
  const bounds = () => ({ ...readBounds(endpoint, body, { isLenient: true }), isText: false })
  const size = () => ({ endpoint, model, bytes: 0, seconds: 0, bounds: bounds() })
  const call = { endpoint, model, body, size, provider, catalogue }
  const estimate: EstimateCall = reason => estimateUsage(call, { reason })

  /** In the month, and in the key's tokens a minute: one must be left, and what it used is counted when it is done. */
  async function count({ spending }: RequestAccounting): Promise<void> {
    const giveBack = await admission.admitMore(keyHash, 1)
    await spending?.reserve(query.model, { usd: null, tokens: 1 }).catch(error => {
      giveBack()
      throw error
    })
  }

  return {
    get underWay() {
      return underWay.size
    },

    async begin({ response }) {
      const accounting = accounts.open({ ...request, arrivedAtMs: performance.now() }, account, () => {})
      accounting.noteQuery(query, tags)
      accounting.noteProvider(provider)
      const counting = count(accounting)
      const isCounted = counting.then(
        () => {
          accounting.noteAsked(estimate)
          return true
        },
        () => false,
      )
      underWay.set(idOf(response), { accounting, isCounted })
      await counting
    },

    async done({ response }) {
      const begun = underWay.get(idOf(response))
      if (!begun || !isJsonObject(response)) return
      underWay.delete(response.id)
      const isCounted = await begun.isCounted
      const usage = believedUsage({ provider, query }, readPassedUsage(response.usage), { catalogue })
      const model = provider.pricedAs === null ? undefined : catalogue.find(provider.pricedAs, query.model)
      const usd = model && hasPricesFor(model, usage) ? costUsd(model, usage) : null
      const isFailed = response.status === 'failed' && usage === NO_USAGE
      const unknown = isFailed ? NO_USAGE : estimate('not_reported')
      begun.accounting.finish({
        status: isFailed ? FAILED_STATUS : 200,
        // Only what was counted can be given back.
        counts: !(isFailed && isCounted),
        cacheResult: 'MISS',
        usage: usage === NO_USAGE ? unknown : withCost(usage, usd),
      })
    },

    async end(failure) {
      const left = [...underWay.values()]
      underWay.clear()
      for (const { accounting, isCounted } of left) if (await isCounted) accounting.finishFailed(failure)
    },
  }
}

function idOf(response: unknown): unknown {
  return isJsonObject(response) ? response.id : undefined
}
