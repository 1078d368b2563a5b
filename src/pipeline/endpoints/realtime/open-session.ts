/**
 * Opens a session of OpenAI's Realtime API for a client, under the project's provider key. The opening and each response in the session
 * count as requests, and are recorded. All open sessions are checked every half minute, whether they would still be admitted.
 */
import { ClientDisconnected, createError, throwIfError } from '../../../errors/errors.ts'
import { NO_USAGE } from '../../../formats/token-usage.ts'
import type { ResolvedKey } from '../../../postgres/admit-requests.ts'
import { trackAttempt } from '../../../providers/attempts.ts'
import type { Provider } from '../../../providers/upstream.ts'
import type { RequestMetadata } from '../../accounting/create-record.ts'
import type { PipelineServices } from '../../context/request-context.ts'
import type { ProxyRequest } from '../../request/request.ts'
import { readTags } from '../../request/tags.ts'
import { RealtimeSession } from './relay-session.ts'
import { SessionSpending } from './session-spending.ts'
import { connectRealtimeUpstream } from './sockets.ts'

export type RealtimeRequest = RequestMetadata &
  Pick<ProxyRequest, 'authorization' | 'address' | 'headers'> & {
    /** The model that the URL names; null if it names none. */
    model: string | null
    /** Whether the session only transcribes its input. It then needs no model. */
    isTranscription: boolean
  }

export interface RealtimeSessions {
  /** Resolves when the provider has opened its side. Throws as admission does, or 400, 404 or 502. */
  open(request: RealtimeRequest): Promise<RealtimeSession>
  /** Checks all open sessions now, in addition to the regular checks. */
  recheck(): Promise<void>
  /** Ends each session when its responses are done. No session begins another response. */
  drain(): void
  /** Ends all sessions at once. */
  terminate(): void
}

/** The response headers of the upgrade are not read. */
const NO_HEADERS = new Headers()
const SWITCHING_PROTOCOLS = 101
const RECHECK_INTERVAL_MS = 30_000

export function createRealtimeSessions(stages: PipelineServices): RealtimeSessions {
  const sessions = createSessions()

  async function open(request: RealtimeRequest): Promise<RealtimeSession> {
    const { model, isTranscription, authorization, address, headers } = request
    const keyHash = stages.admission.hashKey(authorization)
    const query = { endpoint: 'realtime' as const, model: model ?? '', stream: true, body: {} }
    const { resolvedKey, release } = await stages.admission.admit({ keyHash, address, exactKey: null }).catch(error => {
      const cachedKey = stages.admission.findCachedKey(keyHash)
      if (cachedKey) stages.accounting.recordRejection(request, cachedKey, query, error)
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
      const sessionContext = { request, resolvedKey, keyHash, query, tags, provider, isTranscription }
      const spending = new SessionSpending(sessionContext, stages)
      try {
        await spending.open()
        // Each response is recorded separately, so that the opening itself costs nothing.
        recorder.beginCall(() => NO_USAGE)
        const realtimeAddress = await provider.resolveRealtime({ model, isTranscription, headers })
        const called = { provider: provider.name, key: realtimeAddress.key ?? null }
        const { upstream } = await trackAttempt(called, recorder.attempts.record, async () => ({
          status: SWITCHING_PROTOCOLS,
          upstream: await connectRealtimeUpstream(provider.name, realtimeAddress),
        }))
        recorder.recordResponseHead({ status: SWITCHING_PROTOCOLS, headers: NO_HEADERS })
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

  return { open, recheck: sessions.recheck, drain: sessions.drain, terminate: sessions.terminate }
}

/** Tracks open sessions, and checks them regularly. */
function createSessions() {
  const sessions = new Set<RealtimeSession>()
  let isDraining = false
  let checks: ReturnType<typeof setInterval> | undefined

  async function recheck(): Promise<void> {
    await Promise.all([...sessions].map(session => session.recheck()))
  }

  return {
    recheck,
    add(session: RealtimeSession): void {
      sessions.add(session)
      checks ??= setInterval(() => void recheck(), RECHECK_INTERVAL_MS).unref()
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
    terminate(): void {
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
  // A transcription session names its model later.
  const provider =
    model === null
      ? modelRouter.findResponseStorage(resolvedKey)
      : throwIfError(modelRouter.resolve(model, resolvedKey))
  if (!provider) throw createError('realtimeModelMissing')
  return provider
}
