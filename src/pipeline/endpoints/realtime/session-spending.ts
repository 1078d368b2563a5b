/**
 * Counts, reserves and records a session's spending. Each response counts against the monthly quota when it begins and is recorded when it
 * is done. Usage without a response, such as an input's transcription, is recorded separately. If budgets apply, the maximum cost is
 * reserved: of a response before it can begin, and of a transcription before its audio is sent.
 */
import { invalidRequestError, throwIfError } from '../../../errors/errors.ts'
import { isJsonObject, type JsonObject } from '../../../formats/json/canonical.ts'
import type { ResolvedKey } from '../../../postgres/admit-requests.ts'
import { checkAllowedModels } from '../../../providers/model-router.ts'
import type { PipelineServices } from '../../context/request-context.ts'
import { estimateReasonOf } from '../../spending/upstream-calls.ts'
import {
  findUsage,
  isSettingsConfirmation,
  isSettingsUpdate,
  readResponseId,
  readSessionSettings,
} from './session-events.ts'
import { estimateAudioInputTokens, SessionPrices } from './session-prices.ts'
import {
  type InFlightResponse,
  openSessionRecorder,
  type ReservedResponse,
  ReservedResponses,
  type SessionContext,
  TranscriptionReservation,
} from './session-reservations.ts'

const FAILED_STATUS = 502

export class SessionSpending {
  readonly #session: SessionContext
  readonly #stages: Pick<PipelineServices, 'admission' | 'accounting'>
  readonly #prices: SessionPrices
  readonly #inFlight = new Map<unknown, InFlightResponse>()
  #finishing = 0
  readonly #reservations: ReservedResponses
  #resolvedKey: ResolvedKey
  /** Settings updates that the provider has not confirmed. */
  #unconfirmed = 0
  readonly #audio: TranscriptionReservation
  #contextTokens = 0
  #closingFailure: Error | null = null
  #hasEnded = false

  constructor(session: SessionContext, stages: Pick<PipelineServices, 'admission' | 'accounting' | 'catalogue'>) {
    this.#session = session
    this.#stages = stages
    this.#prices = new SessionPrices(session.query.model, session.provider, stages.catalogue)
    this.#resolvedKey = session.resolvedKey
    const isReserved = () => this.#resolvedKey.has_budgets && !this.#hasEnded
    this.#reservations = new ReservedResponses(!session.isTranscription, () => this.#openReserved(), isReserved)
    this.#audio = new TranscriptionReservation({
      getResolvedKey: () => this.#resolvedKey,
      open: model => this.#open(model).recorder,
      maxCost: model => this.#prices.maxTranscriptionCost(model),
    })
  }

  get resolvedKey(): ResolvedKey {
    return this.#resolvedKey
  }

  /** The model that transcribes the session's input; null if none does. */
  get transcriptionModel(): string | null {
    return this.#audio.model
  }

  /** Ids of responses that have begun and are not done. */
  get inFlightResponseIds(): string[] {
    return [...this.#inFlight.keys()].filter(id => typeof id === 'string')
  }

  /** Ids of responses in flight that were rejected when they began. */
  get rejectedResponseIds(): string[] {
    return [...this.#inFlight].flatMap(([id, { rejection }]) => (rejection && typeof id === 'string' ? [id] : []))
  }

  /** Whether a response is in flight or not recorded, or is requested and may still begin. */
  get isBusy(): boolean {
    return this.#inFlight.size + this.#finishing + this.#reservations.pendingRequests > 0
  }

  /** Makes the reservations that an open session holds. Throws 400, 429 or 503. */
  open(): Promise<void> {
    return this.#reservations.adjust()
  }

  /**
   * Reserves the maximum cost of the client's event. Returns the event to send, in which a request for a response has an id of the proxy.
   * Throws 400, 403, 429 or 503; the event must not be sent then.
   */
  async reserveForEvent(event: JsonObject, text: string): Promise<string> {
    this.#contextTokens += estimateAudioInputTokens(text.length)
    if (this.#audio.model !== null) await this.#audio.reserve(this.#audio.model, text.length)
    if (isSettingsUpdate(event)) await this.#reserveForUpdate(event)
    if (event.type !== 'response.create') return text
    return JSON.stringify({ ...event, event_id: await this.#reservations.reserveRequested(event.event_id) })
  }

  /** Returns the provider's event with the client's own event id. */
  restoreEventId({ type, error }: JsonObject, text: string): string {
    return type === 'error' && isJsonObject(error)
      ? this.#reservations.restoreClientEventId(error.event_id, text)
      : text
  }

  /** Counts received characters, for an estimate. */
  addReceived(characters: number): void {
    for (const entry of this.#inFlight.values()) entry.receivedCharacters += characters
  }

  /** Handles an event of the provider. Rejects with the error of admission; the session may then begin no further response. */
  async handleProviderEvent(event: JsonObject): Promise<void> {
    const id = readResponseId(event)
    if (event.type === 'response.created') return this.#begin(id)
    if (event.type === 'error' && isJsonObject(event.error)) await this.#reservations.cancel(event.error.event_id)
    if (isSettingsConfirmation(event)) await this.#confirm(event)
    const usage = findUsage(event)
    const entry = this.#inFlight.get(id)
    if (!entry) return usage === undefined ? undefined : this.#recordSeparateUsage(event, usage)
    entry.usage = usage ?? entry.usage
    if (event.type === 'response.done' && isJsonObject(event.response))
      await this.#finishResponse(id, entry, event.response.status)
  }

  /** Sets the key as it was resolved again, and makes the reservations that it now needs. Throws 400, 429 or 503. */
  async setResolvedKey(resolvedKey: ResolvedKey): Promise<void> {
    this.#resolvedKey = resolvedKey
    await this.#reservations.adjust()
    if (this.#audio.model !== null) await this.#audio.reserve(this.#audio.model, 1)
  }

  /** Rejects further responses with this failure. Those in flight are awaited, and recorded with it. */
  beginClosing(failure: Error): void {
    this.#closingFailure = failure
  }

  /** Ends the session. Responses that are still in flight are charged an estimate. */
  end(failure: Error): void {
    this.#hasEnded = true
    void this.#reservations.adjust()
    this.#audio.end()
    for (const entry of this.#inFlight.values())
      void entry.isCounted.then(isCounted => {
        const usage = this.#prices.estimate(entry, estimateReasonOf(failure))
        const known = { usage, ...(!isCounted && { isCounted: true }) }
        entry.recorder.finishFailed(entry.rejection ?? failure, known)
      })
    this.#inFlight.clear()
  }

  #open(model = this.#session.query.model): ReservedResponse {
    return openSessionRecorder(this.#session, this.#resolvedKey, model, this.#stages)
  }

  async #openReserved(): Promise<ReservedResponse> {
    const response = this.#open()
    await response.recorder.spending?.reserveAhead(this.#session.query.model, this.#prices.maxResponseCost())
    return { ...response, hasReserved: this.#resolvedKey.has_budgets }
  }

  #begin(id: unknown): Promise<void> {
    const reservation = this.#reservations.claim() ?? this.#open()
    reservation.request.arrivedAtMs = performance.now()
    const entry: InFlightResponse = {
      recorder: reservation.recorder,
      isCounted: Promise.resolve(false),
      rejection: null,
      usage: null,
      promptTokens: this.#contextTokens,
      receivedCharacters: 0,
    }
    this.#inFlight.set(id, entry)
    const counted = this.#closingFailure ? Promise.reject(this.#closingFailure) : this.#count(entry, reservation)
    entry.isCounted = counted
      .then(
        () => true,
        error => {
          entry.rejection = error
          return false
        },
      )
      .finally(() => entry.recorder.beginCall(reason => this.#prices.estimate(entry, reason)))
    return counted.then(() => this.#reservations.adjust())
  }

  /** Counts the response against the quota and the token rate limit. One token must be left; the rest is counted when it is done. */
  async #count(entry: InFlightResponse, reservation: ReservedResponse): Promise<void> {
    const { keyHash, query } = this.#session
    const { admission } = this.#stages
    const refund = await admission.reserveQuota(keyHash, 1)
    this.#resolvedKey = admission.findCachedKey(keyHash) ?? this.#resolvedKey
    try {
      // The budget is newer than the reservation, or the response has no reservation.
      if (this.#resolvedKey.has_budgets && !reservation.hasReserved)
        entry.recorder = (await this.#openReserved()).recorder
      await entry.recorder.spending?.reserve(query.model, { usd: null, tokens: 1 })
    } catch (error) {
      refund()
      throw error
    }
  }

  async #finishResponse(id: unknown, entry: InFlightResponse, status: unknown): Promise<void> {
    this.#inFlight.delete(id)
    const closingFailure = this.#closingFailure
    this.#finishing += 1
    const isCounted = await entry.isCounted
    this.#finishing -= 1
    const { usage, isReported, isFailed } = this.#prices.usageOfResponse(entry, status)
    if (isReported) this.#contextTokens = usage.promptTokens + usage.completionTokens
    const failure = entry.rejection ?? closingFailure
    const known = { cacheResult: 'MISS' as const, usage, isCounted: !(isFailed && isCounted) }
    if (failure) entry.recorder.finishFailed(failure, known)
    else entry.recorder.finish({ ...known, status: isFailed ? FAILED_STATUS : 200 })
  }

  /** Records usage that belongs to no response. */
  #recordSeparateUsage({ type }: JsonObject, reportedUsage: unknown): void {
    const model =
      typeof type === 'string' && type.includes('transcription') ? (this.#audio.model ?? '') : this.#session.query.model
    const usage = this.#prices.readUsage(model, reportedUsage)
    if (usage) this.#open(model).recorder.finish({ status: 200, isCounted: true, cacheResult: 'MISS', usage })
  }

  /** Checks a settings update of the client, and reserves its cost before it is sent. */
  async #reserveForUpdate(event: JsonObject): Promise<void> {
    const { model, transcription, hasAutomaticResponses } = readSessionSettings(event)
    if (model !== undefined && model !== this.#session.query.model)
      throw invalidRequestError('The model of a session cannot be changed: open another session.', 'session.model')
    if (typeof transcription === 'string') {
      throwIfError(checkAllowedModels([transcription], this.#resolvedKey))
      await this.#audio.reserve(transcription, 1)
    }
    if (hasAutomaticResponses && !this.#reservations.hasAutomaticResponses) {
      this.#reservations.hasAutomaticResponses = true
      await this.#reservations.adjust().catch(error => {
        this.#reservations.hasAutomaticResponses = false
        throw error
      })
    }
    this.#unconfirmed++
  }

  async #confirm(event: JsonObject): Promise<void> {
    const { transcription, hasAutomaticResponses } = readSessionSettings(event)
    if (event.type !== 'session.created') this.#unconfirmed = Math.max(0, this.#unconfirmed - 1)
    // A later update of the client is not confirmed yet.
    if (this.#unconfirmed > 0) return
    this.#reservations.hasAutomaticResponses = hasAutomaticResponses ?? this.#reservations.hasAutomaticResponses
    await this.#reservations.adjust()
    if (typeof transcription === 'string') await this.#audio.reserve(transcription, 1)
    else if (transcription === null) this.#audio.model = null
  }
}
