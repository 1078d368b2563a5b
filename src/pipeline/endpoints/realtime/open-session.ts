/**
 * Opens a session of OpenAI's Realtime API for a client, under the project's own key. Opening counts as a request, and so does each response
 * in the session; each is recorded. Every half minute it is checked that all that is open would be admitted again.
 */
import { hashBearerKey } from '../../../admission/key-validator.ts'
import { ClientDisconnected, createError, ProxyError } from '../../../errors/errors.ts'
import { NO_USAGE } from '../../../formats/token-usage.ts'
import type { ResolvedKey } from '../../../postgres/admit-requests.ts'
import type { Provider } from '../../../providers/upstream.ts'
import type { RequestMetadata } from '../../accounting/create-record.ts'
import type { PipelineServices } from '../../context/request-context.ts'
import type { ProxyRequest } from '../../request/request.ts'
import { readTags } from '../../request/tags.ts'
import { connectRealtimeUpstream } from './connect-upstream.ts'
import { RealtimeSession } from './relay-session.ts'
import { SessionSpending } from './session-spending.ts'

export type RealtimeRequest = RequestMetadata &
  Pick<ProxyRequest, 'authorization' | 'address' | 'headers'> & {
    /** Null when the address names none. */
    model: string | null
    /** Whether the session is to transcribe its input alone: it needs no model. */
    isTranscription: boolean
  }

export interface RealtimeSessions {
  /** Resolves once the provider has opened its side. Throws what admission throws, 400, 404 or 502. */
  open(request: RealtimeRequest): Promise<RealtimeSession>
  /** Checks all open sessions now, as happens every half minute. */
  recheck(): Promise<void>
  /** No session begins another response: each ends when its last one is done. */
  drain(): void
  /** Ends all sessions at once. */
  terminate(): void
}

/** What a provider answers as it opens its side is not read. */
const NO_HEADERS = new Headers()
const SWITCHED = 101
const READMIT_EVERY_MS = 30_000

export function createRealtimeSessions(stages: PipelineServices): RealtimeSessions {
  const sessions = createSessions()

  async function open(request: RealtimeRequest): Promise<RealtimeSession> {
    const { model, isTranscription, authorization, address, headers } = request
    const keyHash = hashBearerKey(authorization)
    const query = { endpoint: 'realtime' as const, model: model ?? '', stream: true, body: {} }
    const { resolvedKey, release } = await stages.admission.admit({ keyHash, address, exactKey: null }).catch(error => {
      const known = stages.admission.findCachedKey(keyHash)
      if (known) stages.accounting.recordRejection(request, known, query, error)
      throw error
    })
    const recorder = stages.accounting.open(request, resolvedKey, release)
    recorder.setQuery(query)
    try {
      const tags = readTags(headers, query)
      recorder.setQuery(query, tags)
      const provider = findProvider(request, resolvedKey, stages)
      if (!provider.resolveRealtime) throw createError('pathUnsupported', { vendor: provider.name, path: '/realtime' })
      recorder.setProvider(provider)
      const start = { request, resolvedKey: resolvedKey, keyHash, query, tags, provider, isTranscription }
      const spending = new SessionSpending(start, stages)
      try {
        await spending.open()
        // Its responses are accounted for one by one.
        recorder.beginCall(() => NO_USAGE)
        const place = await provider.resolveRealtime({ model, isTranscription, headers })
        const upstream = await connectRealtimeUpstream(provider.name, place)
        recorder.recordResponseHead({ ...place, status: SWITCHED, headers: NO_HEADERS })
        const admitted = { keyHash, address, release }
        const session = new RealtimeSession({ upstream, spending, provider, model, admitted, onEnd }, stages)
        function onEnd(): void {
          sessions.remove(session)
          recorder.finish({ status: 200, isCounted: true, cacheResult: 'MISS', usage: NO_USAGE })
        }
        sessions.add(session)
        return session
      } catch (error) {
        spending.end(new ClientDisconnected())
        throw error
      }
    } catch (error) {
      recorder.finishFailed(error)
      throw error
    }
  }

  return { open, recheck: sessions.readmit, drain: sessions.drain, terminate: sessions.cut }
}

/** All that are open. */
function createSessions() {
  const sessions = new Set<RealtimeSession>()
  let isDraining = false
  let checks: ReturnType<typeof setInterval> | undefined

  async function readmit(): Promise<void> {
    await Promise.all([...sessions].map(session => session.recheck()))
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
      for (const session of sessions) session.terminate()
    },
  }
}

function findProvider(
  { model, isTranscription }: RealtimeRequest,
  resolvedKey: ResolvedKey,
  { modelRouter }: Pick<PipelineServices, 'modelRouter'>,
): Provider {
  if (model === null && !isTranscription) throw createError('realtimeModelMissing')
  // What transcribes is named later, in the session.
  const provider =
    model === null ? modelRouter.findResponseStorage(resolvedKey) : modelRouter.resolve(model, resolvedKey)
  if (provider instanceof ProxyError) throw provider
  if (!provider) throw createError('realtimeModelMissing')
  return provider
}
