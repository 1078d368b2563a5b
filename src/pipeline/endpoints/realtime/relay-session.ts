/**
 * Relays a session's events between a client and its provider, in both directions and in order. For a client's event, the objects that it
 * names are checked and its maximum cost is reserved. From the provider's events, usage is read. If one side closes, the other is closed.
 */
import { ClientDisconnected, createError, ProxyError } from '../../../errors/errors.ts'
import { MAX_MAIN_THREAD_BYTES } from '../../../event-loop/worker-pool.ts'
import { type JsonObject, parseJsonObject, parseRequestBody } from '../../../formats/json/canonical.ts'
import type { Provider } from '../../../providers/upstream.ts'
import { brokenResponseError } from '../../../providers/upstream-failure.ts'
import type { PipelineServices } from '../../context/request-context.ts'
import { checkReferences } from '../../ownership/check-references.ts'
import { recheckSession, type SessionAdmission } from './readmit-session.ts'
import { isBillingEvent, listEventReferences } from './session-events.ts'
import { SessionMemory } from './session-memory.ts'
import type { SessionSpending } from './session-spending.ts'
import { CLOSE_REASONS, type ClientSocket, CONNECTION_LOST, type SocketClose, type UpstreamSocket } from './sockets.ts'

/** A session without an event in either direction ends after this time. */
export const IDLE_LIMIT_MS = 15 * 60_000

/** When a session ends, its responses are cancelled, and their usage is awaited for this long. */
export const CLOSE_GRACE_MS = 5_000
/** The session ends after this many consecutive checks without a response from the database. */
export const MAX_FAILED_CHECKS = 4

export interface SessionOptions extends SessionAdmission {
  upstream: UpstreamSocket
  spending: SessionSpending
  provider: Provider
  /** Called once, when both sides have ended. */
  onEnd(): void
}

type SessionStages = Pick<PipelineServices, 'admission' | 'sharedCalls' | 'database' | 'largeBodies' | 'modelRouter'>

export class RealtimeSession {
  readonly #options: SessionOptions
  readonly #stages: SessionStages
  readonly #idle: Timer
  readonly #memory: SessionMemory
  #client: ClientSocket | null = null
  /** Whether the client's side has ended. The provider's side may still report usage. */
  #isClosing = false
  #hasUpstreamEnded = false
  #hasFinished = false
  #hasClientClosed = false
  #graceTimer: Timer | undefined
  /** How the session ends when no response is in flight. */
  #ending: { close: SocketClose; failure?: Error } | null = null
  #pendingBytes = 0
  #forwarding = Promise.resolve()
  #failedChecks = 0
  #isChecking = false

  constructor(options: SessionOptions, stages: SessionStages) {
    this.#options = options
    this.#stages = stages
    this.#idle = setTimeout(() => this.#end(CLOSE_REASONS.idle), IDLE_LIMIT_MS)
    this.#memory = new SessionMemory(stages.sharedCalls.memory, {
      countUnsentBytes: () => ({
        toClient: this.#client?.bufferedBytes ?? 0,
        toProvider: this.#pendingBytes + options.upstream.bufferedBytes,
      }),
      onSlowClient: () => {
        this.#end(CLOSE_REASONS.tooSlow)
        // Buffered bytes would stay in memory until the client reads them.
        this.#client?.terminate()
      },
      onSlowProvider: () => this.#end(CLOSE_REASONS.tooFast),
    })
  }

  /** The client has read its buffered bytes. */
  onClientDrained(): void {
    this.#memory.measure()
  }

  /** Attaches the client. It receives all events of the provider, including those before. */
  attach(client: ClientSocket): void {
    this.#client = client
    this.#options.upstream.listen({
      onMessage: text => this.#deliver(client, text),
      onClose: close => this.#endWithProvider(close),
    })
  }

  /** Handles a message of the client. Messages are forwarded one after the other. */
  receive(text: string): void {
    this.#idle.refresh()
    this.#pendingBytes += text.length
    this.#memory.measure()
    this.#forwarding = this.#forwarding.then(async () => {
      await this.#forward(text)
      this.#pendingBytes -= text.length
      this.#memory.measure()
    })
  }

  /** The client's side has ended. */
  onClientClosed(close: SocketClose): void {
    this.#end(close)
    this.#hasClientClosed = true
    if (this.#hasFinished) this.#memory.close()
  }

  /** Ends the session when no response is in flight. */
  drain(): void {
    this.#endAfterResponses({ close: CLOSE_REASONS.stopping })
  }

  /** Ends the session at once, and waits for nothing. */
  terminate(): void {
    this.#end(CLOSE_REASONS.stopping)
    this.#finish()
  }

  /**
   * Checks that the session would still be admitted. A key that is no longer active, or not allowed from the client's address, ends it at
   * once; any other rejection ends it after the responses in flight. If the database fails, the next check retries.
   */
  async recheck(): Promise<void> {
    if (this.#isChecking || this.#isClosing) return
    this.#isChecking = true
    try {
      await recheckSession(this.#options, this.#stages, error => {
        this.#sendError(error)
        this.#end(CLOSE_REASONS.rejected, error)
      })
      this.#failedChecks = 0
    } catch (error) {
      const { status } = error instanceof ProxyError ? error : createError('internal', null, error)
      if (status >= 500 && ++this.#failedChecks < MAX_FAILED_CHECKS) return
      this.#reject(error)
    } finally {
      this.#isChecking = false
    }
  }

  /** Forwards an event, or sends the client an error. A rejection for cost ends the session; an invalid event does not. */
  async #forward(text: string): Promise<void> {
    const { upstream, spending, provider } = this.#options
    let event: JsonObject = {}
    try {
      event = await this.#read(text)
      if (this.#ending && event.type !== 'response.cancel') return
      await checkReferences(this.#stages.database, listEventReferences(event), spending.resolvedKey, provider)
    } catch (error) {
      return this.#sendError(error, event.event_id)
    }
    if (this.#isClosing) return
    const outgoing = await spending.reserveForEvent(event, text).catch(error => this.#rejectEvent(event, error))
    if (this.#isClosing || outgoing === undefined) return
    upstream.send(outgoing)
  }

  /** Parses an event, in a worker if it is long. Throws a 400 if it is not a JSON object. */
  async #read(text: string): Promise<JsonObject> {
    if (text.length <= MAX_MAIN_THREAD_BYTES) return parseRequestBody(text)
    const owner = this.#options.spending.resolvedKey.project_id
    return (await this.#stages.largeBodies.read(Buffer.from(text), { owner })).body
  }

  #deliver(client: ClientSocket, text: string): void {
    const { spending } = this.#options
    const event = isBillingEvent(text) ? (parseJsonObject(text) ?? {}) : null
    if (!this.#isClosing) {
      this.#idle.refresh()
      client.send(event ? spending.restoreEventId(event, text) : text)
    }
    spending.addReceived(text.length)
    if (event) void this.#handleEvent(event)
    this.#memory.measure()
  }

  async #handleEvent(event: JsonObject): Promise<void> {
    const { spending } = this.#options
    const handled = spending.handleProviderEvent(event)
    if (this.#isClosing && event.type === 'response.created') this.#cancel(spending.inFlightResponseIds)
    await handled.catch(error => {
      this.#reject(error)
      this.#cancel(spending.rejectedResponseIds)
    })
    if (this.#ending && !spending.isBusy) this.#end(this.#ending.close, this.#ending.failure)
    if (this.#isClosing && !spending.isBusy) this.#finish()
  }

  /** Cancels responses at the provider. It reports their usage when they are done. */
  #cancel(ids: readonly string[]): void {
    if (this.#hasUpstreamEnded) return
    for (const id of ids) this.#options.upstream.send(JSON.stringify({ type: 'response.cancel', response_id: id }))
  }

  #rejectEvent(event: JsonObject, error: unknown): void {
    const isSetting = typeof event.type === 'string' && event.type.endsWith('session.update')
    if (isSetting) this.#sendError(error, event.event_id)
    else this.#reject(error, event.event_id)
  }

  /** Sends the error to the client, and ends the session after the responses in flight. */
  #reject(error: unknown, eventId: unknown = null): void {
    if (this.#ending) return
    this.#sendError(error, eventId)
    const failure = error instanceof Error ? error : new ClientDisconnected()
    this.#endAfterResponses({ close: CLOSE_REASONS.rejected, failure })
  }

  #sendError(error: unknown, eventId: unknown = null): void {
    const { error: body } = (error instanceof ProxyError ? error : createError('internal', null, error)).toBody()
    const event = { type: 'error', event_id: `event_${crypto.randomUUID()}`, error: { ...body, event_id: eventId } }
    if (!this.#isClosing) this.#client?.send(JSON.stringify(event))
  }

  #endAfterResponses(ending: { close: SocketClose; failure?: Error }): void {
    this.#ending ??= ending
    if (!this.#options.spending.isBusy) this.#end(ending.close, ending.failure)
  }

  /** Ends the session as the provider's side has ended. */
  #endWithProvider(close: SocketClose): void {
    this.#hasUpstreamEnded = true
    const { name } = this.#options.provider
    const isLost = close.code === CONNECTION_LOST
    const failure = brokenResponseError(name, isLost ? 'broke off the session' : 'ended the session')
    if (isLost) this.#sendError(failure)
    this.#end(isLost ? CLOSE_REASONS.broken : close, failure)
    this.#finish(failure)
  }

  /** Closes the client's side, cancels responses in flight, and waits for their usage. */
  #end(close: SocketClose, failure: Error = new ClientDisconnected()): void {
    if (this.#isClosing) return
    this.#isClosing = true
    clearTimeout(this.#idle)
    const { spending } = this.#options
    this.#ending = { close, failure }
    this.#client?.close(close)
    spending.beginClosing(failure)
    this.#cancel(spending.inFlightResponseIds)
    if (spending.isBusy) this.#graceTimer = setTimeout(() => this.#finish(), CLOSE_GRACE_MS)
    else this.#finish()
  }

  /** Closes the provider's side, and ends spending. */
  #finish(failure = this.#ending?.failure ?? new ClientDisconnected()): void {
    if (this.#hasFinished) return
    this.#hasFinished = true
    this.#hasUpstreamEnded = true
    clearTimeout(this.#graceTimer)
    const { upstream, spending, onEnd } = this.#options
    upstream.close(this.#ending?.close ?? CLOSE_REASONS.stopping)
    spending.end(failure)
    if (this.#hasClientClosed) this.#memory.close()
    onEnd()
  }
}
