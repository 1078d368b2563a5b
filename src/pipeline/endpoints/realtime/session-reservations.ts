/** The reservations of a session: for responses that have not begun, and for the transcription of audio. */

import type { CostBound } from '../../../admission/budgets.ts'
import type { ResolvedKey } from '../../../postgres/admit-requests.ts'
import type { Provider } from '../../../providers/upstream.ts'
import type { RequestMetadata } from '../../accounting/create-record.ts'
import type { RequestRecorder } from '../../accounting/request-recorder.ts'
import type { PipelineServices } from '../../context/request-context.ts'
import type { RecordedQuery } from '../../request/query.ts'
import { AUDIO_BLOCK_SECONDS, BASE64_G711_CHARACTERS_PER_SECOND, type ResponseTraffic } from './session-prices.ts'

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

/** Reserves each requested response, and one automatic response of the provider, until it begins. */
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

interface TranscriptionOptions {
  getResolvedKey(): Pick<ResolvedKey, 'has_budgets'>
  open(model: string): RequestRecorder
  /** Returns the bound of one block. */
  maxCost(model: string): CostBound | null
}

/** Reserves the transcription of the audio that was sent, in blocks, until the session ends. */
export class TranscriptionReservation {
  /** The model that transcribes the session's input; null if none does. */
  model: string | null = null
  readonly #options: TranscriptionOptions
  #recorder: RequestRecorder | null = null
  #seconds = 0
  #blocks = 0
  #hasEnded = false

  constructor(options: TranscriptionOptions) {
    this.#options = options
  }

  /** Reserves for further characters of audio, which this model transcribes from now on. Throws 400, 429 or 503. */
  async reserve(model: string, characters: number): Promise<void> {
    const { getResolvedKey, open, maxCost } = this.#options
    if (model !== this.model) this.#seconds = this.#blocks = 0
    this.#seconds += characters / BASE64_G711_CHARACTERS_PER_SECOND
    while (getResolvedKey().has_budgets && this.#blocks * AUDIO_BLOCK_SECONDS < this.#seconds) {
      if (!this.#recorder?.spending?.hasBudgets) this.#recorder = open(model)
      await this.#recorder.spending?.reserveMoney(model, maxCost(model))
      this.#blocks++
    }
    this.model = model
    if (this.#hasEnded) this.end()
  }

  end(): void {
    this.#hasEnded = true
    this.#recorder?.spending?.release()
  }
}
