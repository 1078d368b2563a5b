/** Reservations for responses that have not begun: one for each requested response, and one for an automatic response of the provider. */
import type { ResolvedKey } from '../../../postgres/admit-requests.ts'
import type { Provider } from '../../../providers/upstream.ts'
import type { RequestMetadata } from '../../accounting/create-record.ts'
import type { RequestRecorder } from '../../accounting/request-recorder.ts'
import type { PipelineServices } from '../../context/request-context.ts'
import type { RecordedQuery } from '../../request/query.ts'
import type { ResponseTraffic } from './session-prices.ts'

export interface SessionContext {
  request: RequestMetadata
  resolvedKey: ResolvedKey
  keyHash: string
  query: RecordedQuery
  /** A JSON object; null for none. */
  tags: string | null
  provider: Provider
  /** Whether the session only transcribes. It then has no responses. */
  isTranscription: boolean
}

export interface ReservedResponse {
  /** `arrivedAtMs` is set to the time when the response begins. */
  request: { arrivedAtMs: number }
  recorder: RequestRecorder
  hasReserved: boolean
}

/** A response that has begun and is not done. */
export interface InFlightResponse extends ResponseTraffic {
  recorder: RequestRecorder
  /** Whether the monthly quota admitted it. */
  isCounted: Promise<boolean>
  /** The error of admission; null if the response was admitted. */
  rejection: Error | null
}

export class ReservedResponses {
  /** Whether the provider may begin a response without a request. */
  hasAutomaticResponses: boolean
  readonly #reserve: () => Promise<ReservedResponse>
  readonly #isReserved: () => boolean
  readonly #reserved: ReservedResponse[] = []
  /** Pending requests for a response: the proxy's event id, and the client's. */
  readonly #pending = new Map<string, unknown>()
  #adjusting = Promise.resolve()

  /** `reserve` throws 400, 429 or 503. `isReserved` returns whether responses need a reservation now. */
  constructor(hasAutomaticResponses: boolean, reserve: () => Promise<ReservedResponse>, isReserved: () => boolean) {
    this.hasAutomaticResponses = hasAutomaticResponses
    this.#reserve = reserve
    this.#isReserved = isReserved
  }

  get pendingRequests(): number {
    return this.#pending.size
  }

  /** Reserves missing responses, and releases excess reservations. Throws as `reserve` does. */
  adjust(): Promise<void> {
    const all = this.#adjusting.then(async () => {
      while (this.#missing() > 0) this.#reserved.push(await this.#reserve())
      while (this.#missing() < 0) this.#reserved.pop()?.recorder.spending?.release()
    })
    this.#adjusting = all.catch(() => {})
    return all
  }

  /** Reserves the response that the client requests by the event with this id. Returns the id under which the event is sent. */
  async reserveRequested(clientEventId: unknown): Promise<string> {
    const id = `event_${crypto.randomUUID()}`
    this.#pending.set(id, clientEventId ?? null)
    await this.adjust().catch(error => {
      this.#pending.delete(id)
      throw error
    })
    return id
  }

  /** Replaces the proxy's event id in an error's text by the client's. */
  restoreClientEventId(id: unknown, text: string): string {
    if (typeof id !== 'string' || !this.#pending.has(id)) return text
    return text.replaceAll(JSON.stringify(id), JSON.stringify(this.#pending.get(id)))
  }

  /** Drops the request with this event id: it leads to no response. */
  async cancel(id: unknown): Promise<void> {
    if (typeof id === 'string' && this.#pending.delete(id)) await this.adjust()
  }

  /** Returns the reservation of a response that has begun; undefined if it has none. */
  claim(): ReservedResponse | undefined {
    for (const first of [...this.#pending.keys()].slice(0, 1)) this.#pending.delete(first)
    return this.#reserved.shift()
  }

  #missing(): number {
    const needed = this.#isReserved() ? this.#pending.size + Number(this.hasAutomaticResponses) : 0
    return needed - this.#reserved.length
  }
}

/** Opens a recorder for a response, or for usage without a response. */
export function openSessionRecorder(
  { request, query, tags, provider }: SessionContext,
  resolvedKey: ResolvedKey,
  model: string,
  { accounting }: Pick<PipelineServices, 'accounting'>,
): ReservedResponse {
  const recordedRequest = { ...request, arrivedAtMs: performance.now() }
  const recorder = accounting.open(recordedRequest, resolvedKey, () => {})
  recorder.setQuery({ ...query, model }, tags)
  recorder.setProvider(provider)
  return { request: recordedRequest, recorder, hasReserved: false }
}
