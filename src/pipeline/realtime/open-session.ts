/**
 * Opens a session of OpenAI's Realtime API for a client, under the project's own key. Opening counts as a request, and so does each response
 * in the session; each is recorded. Where a budget applies no session is opened: nothing bounds what it may cost.
 */
import { hashBearerKey } from '../../admission/api-key.ts'
import { ProxyError, refuse } from '../../errors/errors.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import type { ProxyRequest } from '../request.ts'
import type { AccountedRequest } from '../request-accounting.ts'
import type { Stages } from '../request-context.ts'
import { readTags } from '../tags.ts'
import { connectUpstream } from './connect-upstream.ts'
import { countResponses } from './count-responses.ts'
import { RealtimeSession } from './relay-session.ts'

export type RealtimeRequest = AccountedRequest &
  Pick<ProxyRequest, 'authorization' | 'address' | 'headers'> & {
    /** Null when the address names none. */
    model: string | null
  }

export interface Realtime {
  /** Resolves once the provider has opened its side. Throws what admission throws, 400, 404 or 502. */
  open(request: RealtimeRequest): Promise<RealtimeSession>
  /** No session begins another response: each ends when its last one is done. */
  drain(): void
  /** Ends all sessions at once. */
  cut(): void
}

/** What a provider answers as it opens its side is not read. */
const NO_HEADERS = new Headers()
const SWITCHED = 101

export function createRealtime(stages: Stages): Realtime {
  const sessions = new Set<RealtimeSession>()
  let isDraining = false

  async function open(request: RealtimeRequest): Promise<RealtimeSession> {
    const { model, authorization, address, headers } = request
    const keyHash = hashBearerKey(authorization)
    const query = { endpoint: 'realtime' as const, model: model ?? '', stream: true, body: {} }
    const { account, leave } = await stages.admission.admit({ keyHash, address, exactKey: null }).catch(error => {
      const known = stages.admission.lastKnown(keyHash)
      if (known) stages.accounting.noteRefused(request, known, query, error)
      throw error
    })
    const accounting = stages.accounting.open(request, account, leave)
    accounting.noteQuery(query)
    try {
      const tags = readTags(headers, query)
      accounting.noteQuery(query, tags)
      if (model === null) throw refuse('realtimeModelMissing')
      const provider = stages.modelRouter.resolve(model, account)
      if (provider instanceof ProxyError) throw provider
      if (!provider.realtime) throw refuse('pathUnsupported', { vendor: provider.name, path: '/realtime' })
      accounting.noteProvider(provider)
      await accounting.spending?.reserveMoney(model, { usd: null, tokens: null })
      // Its responses are accounted for one by one.
      accounting.noteAsked(() => NO_USAGE)
      const place = await provider.realtime({ model, headers })
      const upstream = await connectUpstream(provider.name, place)
      accounting.noteAnswered({ ...place, status: SWITCHED, headers: NO_HEADERS })
      const responses = countResponses({ request, account, keyHash, query, tags, provider }, stages)
      const sides = { upstream, responses, account, provider, onEnd }
      const session = new RealtimeSession(sides, stages)
      function onEnd(): void {
        sessions.delete(session)
        accounting.finish({ status: 200, counts: true, cacheResult: 'MISS', usage: NO_USAGE })
      }
      sessions.add(session)
      if (isDraining) session.drain()
      return session
    } catch (error) {
      accounting.finishFailed(error)
      throw error
    }
  }

  return {
    open,
    drain() {
      isDraining = true
      for (const session of sessions) session.drain()
    },
    cut() {
      for (const session of sessions) session.cut()
    },
  }
}
