/**
 * Relays a session's events between a client and its provider as they are, in both directions in their order. Of the client's, what they name
 * at the provider is checked; of the provider's, the beginnings and ends of responses are read. Either side's close ends the other.
 */
import { ClientGone, ProxyError, refuse } from '../../errors/errors.ts'
import { LONGEST_ON_LOOP } from '../../event-loop/off-loop.ts'
import { type JsonObject, parseJsonObject, parseObject } from '../../formats/json/canonical.ts'
import { findKeptReferences, type KeptReference } from '../../formats/kept-references.ts'
import type { Account } from '../../postgres/admit.ts'
import type { Provider } from '../../providers/upstream.ts'
import { broken } from '../../providers/upstream-failure.ts'
import { checkReferences } from '../kept-objects/check-references.ts'
import type { Stages } from '../request-context.ts'
import { LOST, type SocketEnd, type UpstreamSocket } from './connect-upstream.ts'
import type { Responses } from './count-responses.ts'

/** The client's side. */
export interface ClientSocket {
  /** Bytes that were sent, and are not on their way yet. */
  readonly bufferedBytes: number
  send(text: string): void
  close(end: SocketEnd): void
}

/** Of one direction, sent and not taken: more ends the session, as neither side can be made to wait. A minute of speech takes 4 MB. */
export const MOST_WAITING_BYTES = 32 * 1024 * 1024
/** Without an event in either direction. */
export const IDLE_LIMIT_MS = 15 * 60_000

const CLOSES = {
  stopping: { code: 1001, reason: 'The proxy is about to stop: connect again.' },
  refused: { code: 1008, reason: 'A response was refused.' },
  broken: { code: 1011, reason: 'The provider broke off.' },
  tooSlow: { code: 1013, reason: 'Too much waits to be taken by this client.' },
  tooFast: { code: 1013, reason: 'Too much waits to be taken by the provider.' },
  idle: { code: 1000, reason: 'Nothing was said for 15 minutes.' },
} as const satisfies Record<string, SocketEnd>

export interface SessionSides {
  upstream: UpstreamSocket
  responses: Responses
  account: Account
  provider: Provider
  /** Called once, when both sides have ended. */
  onEnd(): void
}

export class RealtimeSession {
  readonly #sides: SessionSides
  readonly #stages: Pick<Stages, 'database' | 'largeBodies'>
  readonly #idle: Timer
  #client: ClientSocket | null = null
  #isOver = false
  #isDraining = false
  #waitingBytes = 0
  #sending = Promise.resolve()

  constructor(sides: SessionSides, stages: Pick<Stages, 'database' | 'largeBodies'>) {
    this.#sides = sides
    this.#stages = stages
    this.#idle = setTimeout(() => this.#end(CLOSES.idle), IDLE_LIMIT_MS)
  }

  /** From now on the client gets what the provider sends, and has sent. */
  attach(client: ClientSocket): void {
    this.#client = client
    this.#sides.upstream.listen({
      onMessage: text => this.#deliver(client, text),
      onEnd: told => this.#endAs(told),
    })
  }

  /** Takes a message of the client's. They go on one after the other. */
  receive(text: string): void {
    this.#idle.refresh()
    this.#waitingBytes += text.length
    if (this.#waitingBytes > MOST_WAITING_BYTES) this.#end(CLOSES.tooFast)
    this.#sending = this.#sending.then(async () => {
      await this.#forward(text)
      this.#waitingBytes -= text.length
    })
  }

  /** The client's side has ended. */
  leave(told: SocketEnd): void {
    this.#end(told)
  }

  /** Ends the session when no response is under way. */
  drain(): void {
    this.#isDraining = true
    if (this.#sides.responses.underWay === 0) this.#end(CLOSES.stopping)
  }

  /** Ends the session at once. */
  cut(): void {
    this.#end(CLOSES.stopping)
  }

  /** What is refused is told to the client, and the session goes on. */
  async #forward(text: string): Promise<void> {
    const { upstream, account, provider } = this.#sides
    let event: JsonObject = {}
    try {
      event = await this.#read(text)
      await checkReferences(this.#stages.database, referencesOf(event), account, provider)
    } catch (error) {
      return this.#tell(error, event.event_id)
    }
    if (this.#isOver) return
    upstream.send(text)
    if (upstream.bufferedBytes > MOST_WAITING_BYTES) this.#end(CLOSES.tooFast)
  }

  /** Throws a 400 for what is no JSON object. A long one is read by a worker. */
  async #read(text: string): Promise<JsonObject> {
    if (text.length <= LONGEST_ON_LOOP) return parseObject(text)
    const owner = this.#sides.account.project_id
    return (await this.#stages.largeBodies.read(Buffer.from(text), { owner })).body
  }

  #deliver(client: ClientSocket, text: string): void {
    if (this.#isOver) return
    this.#idle.refresh()
    client.send(text)
    if (WATCHED.test(text)) this.#watch(parseJsonObject(text) ?? {})
    if (client.bufferedBytes > MOST_WAITING_BYTES) this.#end(CLOSES.tooSlow)
  }

  #watch(event: JsonObject): void {
    const { responses } = this.#sides
    if (event.type === 'response.created') {
      responses.begin(event).catch(error => {
        this.#tell(error)
        this.#end(CLOSES.refused)
      })
    } else if (event.type === 'response.done') {
      void responses.done(event)
      if (this.#isDraining && responses.underWay === 0) this.#end(CLOSES.stopping)
    }
  }

  #tell(error: unknown, eventId: unknown = null): void {
    const { error: told } = (error instanceof ProxyError ? error : refuse('internal', null, error)).toBody()
    const event = { type: 'error', event_id: `event_${crypto.randomUUID()}`, error: { ...told, event_id: eventId } }
    if (!this.#isOver) this.#client?.send(JSON.stringify(event))
  }

  /** As the provider's side has ended. */
  #endAs(told: SocketEnd): void {
    if (told.code !== LOST) {
      this.#end(told, broken(this.#sides.provider.name, 'ended the session'))
      return
    }
    const failure = broken(this.#sides.provider.name, 'broke off the session')
    this.#tell(failure)
    this.#end(CLOSES.broken, failure)
  }

  /** Closes both sides. */
  #end(told: SocketEnd, failure: Error = new ClientGone()): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#idle)
    const { upstream, responses, onEnd } = this.#sides
    upstream.close(told)
    this.#client?.close(told)
    void responses.end(failure)
    onEnd()
  }
}

/** The events that begin and end a response; any other is not parsed. */
const WATCHED = /"response\.(?:created|done)"/

/** Whether a response belongs to the session's conversation is said in words, where other APIs name one. */
const NO_NAMES: readonly string[] = ['auto', 'none']

function referencesOf(event: JsonObject): KeptReference[] {
  return findKeptReferences(event, null).filter(({ id }) => !NO_NAMES.includes(id))
}
