/**
 * Relays a session's events between a client and its provider as they are, in both directions in their order. Of the client's, what they name
 * at the provider is checked, and what they may cost is reserved; of the provider's, those are read that say what was used. Either side's
 * close ends the other.
 */
import { ClientDisconnected, createError, ProxyError } from '../../../errors/errors.ts'
import { MAX_MAIN_THREAD_BYTES } from '../../../event-loop/worker-pool.ts'
import { type JsonObject, parseJsonObject, parseRequestBody } from '../../../formats/json/canonical.ts'
import type { Provider } from '../../../providers/upstream.ts'
import { brokenResponseError } from '../../../providers/upstream-failure.ts'
import type { PipelineServices } from '../../context/request-context.ts'
import { checkReferences } from '../../ownership/check-references.ts'
import { CLOSE_REASONS, type ClientSocket } from './client-socket.ts'
import { CONNECTION_LOST_CODE, type SocketClose, type UpstreamSocket } from './connect-upstream.ts'
import { recheckSession, type SessionAdmission } from './readmit-session.ts'
import { isBillingEvent, listEventReferences } from './session-events.ts'
import { SessionMemory } from './session-memory.ts'
import type { SessionSpending } from './session-spending.ts'

/** Without an event in either direction. */
export const IDLE_LIMIT_MS = 15 * 60_000

/** After its client has left or the session was ended, a response is cancelled, and its usage awaited for so long. */
export const CLOSE_GRACE_MS = 5_000
/** The database may not answer so many checks, one every half minute; then the session ends. */
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
  readonly #sides: SessionOptions
  readonly #stages: SessionStages
  readonly #idle: Timer
  readonly #memory: SessionMemory
  #client: ClientSocket | null = null
  /** The client's side has ended, and the provider's is ending. */
  #isOver = false
  #hasUpstreamEnded = false
  #hasFinished = false
  #hasLeft = false
  #windUp: Timer | undefined
  /** How the session ends once no response is in flight. */
  #ending: { told: SocketClose; failure?: Error } | null = null
  #waitingBytes = 0
  #sending = Promise.resolve()
  #failedChecks = 0
  #isChecking = false

  constructor(sides: SessionOptions, stages: SessionStages) {
    this.#sides = sides
    this.#stages = stages
    this.#idle = setTimeout(() => this.#end(CLOSE_REASONS.idle), IDLE_LIMIT_MS)
    this.#memory = new SessionMemory(stages.sharedCalls.memory, {
      countUnsentBytes: () => ({
        toClient: this.#client?.bufferedBytes ?? 0,
        toProvider: this.#waitingBytes + sides.upstream.bufferedBytes,
      }),
      onSlowClient: () => {
        this.#end(CLOSE_REASONS.tooSlow)
        // What waits for it would stay in memory until it is read.
        this.#client?.terminate()
      },
      onSlowProvider: () => this.#end(CLOSE_REASONS.tooFast),
    })
  }

  /** The client has taken what waited for it. */
  onClientDrained(): void {
    this.#memory.measure()
  }

  /** From now on the client gets what the provider sends, and has sent. */
  attach(client: ClientSocket): void {
    this.#client = client
    this.#sides.upstream.listen({
      onMessage: text => this.#deliver(client, text),
      onClose: told => this.#endAs(told),
    })
  }

  /** Takes a message of the client's. They go on one after the other. */
  receive(text: string): void {
    this.#idle.refresh()
    this.#waitingBytes += text.length
    this.#memory.measure()
    this.#sending = this.#sending.then(async () => {
      await this.#forward(text)
      this.#waitingBytes -= text.length
      this.#memory.measure()
    })
  }

  /** The client's side has ended. */
  onClientClosed(told: SocketClose): void {
    this.#end(told)
    this.#hasLeft = true
    if (this.#hasFinished) this.#memory.close()
  }

  /** Ends the session when no response is in flight. */
  drain(): void {
    this.#endAfterResponses({ told: CLOSE_REASONS.stopping })
  }

  /** Ends the session at once, and waits for nothing. */
  terminate(): void {
    this.#end(CLOSE_REASONS.stopping)
    this.#finish()
  }

  /**
   * Checks that the session would be opened again. A key that is not active or not used from its address any more ends it at once; whatever
   * else is not admitted, after the responses in flight. A database that does not answer is asked again at the next check.
   */
  async recheck(): Promise<void> {
    if (this.#isChecking || this.#isOver) return
    this.#isChecking = true
    try {
      await recheckSession(this.#sides, this.#stages, error => {
        this.#tell(error)
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

  /** What is not sent on is told to the client. What is rejected for its cost ends the session; a wrong event does not. */
  async #forward(text: string): Promise<void> {
    const { upstream, spending, provider } = this.#sides
    let event: JsonObject = {}
    try {
      event = await this.#read(text)
      if (this.#ending && event.type !== 'response.cancel') return
      await checkReferences(this.#stages.database, listEventReferences(event), spending.account, provider)
    } catch (error) {
      return this.#tell(error, event.event_id)
    }
    if (this.#isOver) return
    const sent = await spending.reserveForEvent(event, text).catch(error => this.#rejectEvent(event, error))
    if (this.#isOver || sent === undefined) return
    upstream.send(sent)
  }

  /** Throws a 400 for what is no JSON object. A long one is read by a worker. */
  async #read(text: string): Promise<JsonObject> {
    if (text.length <= MAX_MAIN_THREAD_BYTES) return parseRequestBody(text)
    const owner = this.#sides.spending.account.project_id
    return (await this.#stages.largeBodies.read(Buffer.from(text), { owner })).body
  }

  #deliver(client: ClientSocket, text: string): void {
    const { spending } = this.#sides
    const event = isBillingEvent(text) ? (parseJsonObject(text) ?? {}) : null
    if (!this.#isOver) {
      this.#idle.refresh()
      client.send(event ? spending.restoreEventId(event, text) : text)
    }
    spending.addReceived(text.length)
    if (event) this.#watch(event)
    this.#memory.measure()
  }

  #watch(event: JsonObject): void {
    const { spending } = this.#sides
    const taken = spending.handleProviderEvent(event)
    if (this.#isOver && event.type === 'response.created') this.#cancel(spending.inFlightResponseIds)
    taken.catch(error => {
      this.#reject(error)
      this.#cancel(spending.rejectedResponseIds)
    })
    if (this.#ending && !spending.isBusy) this.#end(this.#ending.told, this.#ending.failure)
    if (this.#isOver && !spending.isBusy) this.#finish()
  }

  /** Has the provider stop: what the responses used by then is reported when they are done. */
  #cancel(ids: readonly string[]): void {
    if (this.#hasUpstreamEnded) return
    for (const id of ids) this.#sides.upstream.send(JSON.stringify({ type: 'response.cancel', response_id: id }))
  }

  #rejectEvent(event: JsonObject, error: unknown): void {
    const isSetting = typeof event.type === 'string' && event.type.endsWith('session.update')
    if (isSetting) this.#tell(error, event.event_id)
    else this.#reject(error, event.event_id)
  }

  /** The session begins no further response, and ends. */
  #reject(error: unknown, eventId: unknown = null): void {
    if (this.#ending) return
    this.#tell(error, eventId)
    const failure = error instanceof Error ? error : new ClientDisconnected()
    this.#endAfterResponses({ told: CLOSE_REASONS.rejected, failure })
  }

  #tell(error: unknown, eventId: unknown = null): void {
    const { error: told } = (error instanceof ProxyError ? error : createError('internal', null, error)).toBody()
    const event = { type: 'error', event_id: `event_${crypto.randomUUID()}`, error: { ...told, event_id: eventId } }
    if (!this.#isOver) this.#client?.send(JSON.stringify(event))
  }

  #endAfterResponses(ending: { told: SocketClose; failure?: Error }): void {
    this.#ending ??= ending
    if (!this.#sides.spending.isBusy) this.#end(ending.told, ending.failure)
  }

  /** As the provider's side has ended. */
  #endAs(told: SocketClose): void {
    this.#hasUpstreamEnded = true
    const { name } = this.#sides.provider
    const isLost = told.code === CONNECTION_LOST_CODE
    const failure = brokenResponseError(name, isLost ? 'broke off the session' : 'ended the session')
    if (isLost) this.#tell(failure)
    this.#end(isLost ? CLOSE_REASONS.broken : told, failure)
    this.#finish(failure)
  }

  /** Closes the client's side, has the provider stop, and waits for what its responses used. */
  #end(told: SocketClose, failure: Error = new ClientDisconnected()): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#idle)
    const { spending } = this.#sides
    this.#ending = { told, failure }
    this.#client?.close(told)
    spending.beginClosing(failure)
    this.#cancel(spending.inFlightResponseIds)
    if (spending.isBusy) this.#windUp = setTimeout(() => this.#finish(), CLOSE_GRACE_MS)
    else this.#finish()
  }

  /** Closes the provider's side. */
  #finish(failure = this.#ending?.failure ?? new ClientDisconnected()): void {
    if (this.#hasFinished) return
    this.#hasFinished = true
    this.#hasUpstreamEnded = true
    clearTimeout(this.#windUp)
    const { upstream, spending, onEnd } = this.#sides
    upstream.close(this.#ending?.told ?? CLOSE_REASONS.stopping)
    spending.end(failure)
    if (this.#hasLeft) this.#memory.close()
    onEnd()
  }
}
