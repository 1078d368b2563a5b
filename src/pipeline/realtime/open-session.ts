/**
 * Opens a session of OpenAI's Realtime API for a client, under the project's own key. Opening counts as a request, and so does each response
 * in the session; each is recorded. Every half minute it is checked that all that is open would be admitted again.
 */
import { hashBearerKey } from '../../admission/api-key.ts'
import { ClientGone, ProxyError, refuse } from '../../errors/errors.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import type { Account } from '../../postgres/admit.ts'
import type { Provider } from '../../providers/upstream.ts'
import type { AccountedRequest } from '../accounting/create-record.ts'
import type { ProxyRequest } from '../request.ts'
import type { Stages } from '../request-context.ts'
import { readTags } from '../tags.ts'
import { connectUpstream } from './connect-upstream.ts'
import { RealtimeSession } from './relay-session.ts'
import { SessionSpending } from './session-spending.ts'

export type RealtimeRequest = AccountedRequest &
  Pick<ProxyRequest, 'authorization' | 'address' | 'headers'> & {
    /** Null when the address names none. */
    model: string | null
    /** Whether the session is to transcribe its input alone: it needs no model. */
    isTranscription: boolean
  }

export interface Realtime {
  /** Resolves once the provider has opened its side. Throws what admission throws, 400, 404 or 502. */
  open(request: RealtimeRequest): Promise<RealtimeSession>
  /** Checks all open sessions now, as happens every half minute. */
  readmit(): Promise<void>
  /** No session begins another response: each ends when its last one is done. */
  drain(): void
  /** Ends all sessions at once. */
  cut(): void
}

/** What a provider answers as it opens its side is not read. */
const NO_HEADERS = new Headers()
const SWITCHED = 101
const READMIT_EVERY_MS = 30_000

export function createRealtime(stages: Stages): Realtime {
  const sessions = createSessions()

  async function open(request: RealtimeRequest): Promise<RealtimeSession> {
    const { model, isTranscription, authorization, address, headers } = request
    const keyHash = hashBearerKey(authorization)
    const query = { endpoint: 'realtime' as const, model: model ?? '', stream: true, body: {} }
    const { account, leave } = await stages.admission.admit({ keyHash, address, exactKey: null }).catch(error => {
      const known = stages.admission.lastKnown(keyHash)
      if (known) stages.accounting.recordRejection(request, known, query, error)
      throw error
    })
    const recorder = stages.accounting.open(request, account, leave)
    recorder.setQuery(query)
    try {
      const tags = readTags(headers, query)
      recorder.setQuery(query, tags)
      const provider = findProvider(request, account, stages)
      if (!provider.realtime) throw refuse('pathUnsupported', { vendor: provider.name, path: '/realtime' })
      recorder.setProvider(provider)
      const start = { request, account, keyHash, query, tags, provider, isTranscription }
      const spending = new SessionSpending(start, stages)
      try {
        await spending.open()
        // Its responses are accounted for one by one.
        recorder.beginCall(() => NO_USAGE)
        const place = await provider.realtime({ model, isTranscription, headers })
        const upstream = await connectUpstream(provider.name, place)
        recorder.recordResponseHead({ ...place, status: SWITCHED, headers: NO_HEADERS })
        const admitted = { keyHash, address, leave }
        const session = new RealtimeSession({ upstream, spending, provider, model, admitted, onEnd }, stages)
        function onEnd(): void {
          sessions.remove(session)
          recorder.finish({ status: 200, counts: true, cacheResult: 'MISS', usage: NO_USAGE })
        }
        sessions.add(session)
        return session
      } catch (error) {
        spending.end(new ClientGone())
        throw error
      }
    } catch (error) {
      recorder.finishFailed(error)
      throw error
    }
  }

  return { open, readmit: sessions.readmit, drain: sessions.drain, cut: sessions.cut }
}

/** All that are open. */
function createSessions() {
  const sessions = new Set<RealtimeSession>()
  let isDraining = false
  let checks: ReturnType<typeof setInterval> | undefined

  async function readmit(): Promise<void> {
    await Promise.all([...sessions].map(session => session.readmit()))
  }

  return {
    readmit,
    add(session: RealtimeSession): void {
      sessions.add(session)
      checks ??= setInterval(() => void readmit(), READMIT_EVERY_MS).unref()
      if (isDraining) session.drain()
    },
    remove(session: RealtimeSession): void {
      sessions.delete(session)
      if (sessions.size > 0) return
      clearInterval(checks)
      checks = undefined
    },
    drain(): void {
      isDraining = true
      for (const session of sessions) session.drain()
    },
    cut(): void {
      for (const session of sessions) session.cut()
    },
  }
}

function findProvider(
  { model, isTranscription }: RealtimeRequest,
  account: Account,
  { modelRouter }: Pick<Stages, 'modelRouter'>,
): Provider {
  if (model === null && !isTranscription) throw refuse('realtimeModelMissing')
  // What transcribes is named later, in the session.
  const provider = model === null ? modelRouter.keeperOf(account) : modelRouter.resolve(model, account)
  if (provider instanceof ProxyError) throw provider
  if (!provider) throw refuse('realtimeModelMissing')
  return provider
}
