/**
 * What a session may cost and has cost. Each response counts against the month when it begins and is recorded when it is done; usage that
 * belongs to no response, such as that of an input's transcription, is recorded by itself. Where budgets apply, the most that a response
 * may cost is reserved before it can begin, and the most that a transcription may cost before its audio is sent.
 */
import { invalidRequestError } from '../../../errors/errors.ts'
import { isJsonObject, type JsonObject } from '../../../formats/json/canonical.ts'
import type { ResolvedKey } from '../../../postgres/admit-requests.ts'
import { checkAllowedModels } from '../../../providers/model-router.ts'
import type { RequestRecorder } from '../../accounting/request-recorder.ts'
import type { PipelineServices } from '../../context/request-context.ts'
import { estimateReasonOf } from '../../spending/upstream-calls.ts'
import { TranscriptionReservation } from './reserved-audio.ts'
import {
  openSessionRecorder,
  type ReservedResponse,
  ReservedResponses,
  type SessionContext,
} from './reserved-responses.ts'
import {
  findUsage,
  isSettingsConfirmation,
  isSettingsUpdate,
  readResponseId,
  readSessionSettings,
} from './session-events.ts'
import { estimateAudioInputTokens, type ResponseTraffic, SessionPrices } from './session-prices.ts'

interface InFlight extends ResponseTraffic {
  recorder: RequestRecorder
  /** Whether the month had room for it. */
  isCounted: Promise<boolean>
  rejection: Error | null
}

const FAILED_STATUS = 502

export class SessionSpending {
  readonly #start: SessionContext
  readonly #stages: Pick<PipelineServices, 'admission' | 'accounting'>
  readonly #prices: SessionPrices
  readonly #inFlight = new Map<unknown, InFlight>()
  readonly #ahead: ReservedResponses
  #resolvedKey: ResolvedKey
  /** Changes of settings that the provider has not confirmed. */
  #unconfirmed = 0
  readonly #audio: TranscriptionReservation
  /** Tokens of the conversation so far. */
  #contextTokens = 0
  #winding: Error | null = null
  #hasEnded = false

  constructor(start: SessionContext, stages: Pick<PipelineServices, 'admission' | 'accounting' | 'catalogue'>) {
    this.#start = start
    this.#stages = stages
    this.#prices = new SessionPrices(start.query.model, start.provider, stages.catalogue)
    this.#resolvedKey = start.resolvedKey
    const isReserved = () => this.#resolvedKey.has_budgets && !this.#hasEnded
    this.#ahead = new ReservedResponses(!start.isTranscription, () => this.#openReserved(), isReserved)
    this.#audio = new TranscriptionReservation({
      account: () => this.#resolvedKey,
      open: model => this.#open(model).recorder,
      largest: model => this.#prices.maxTranscriptionCost(model),
    })
  }

  get account(): ResolvedKey {
    return this.#resolvedKey
  }

  /** The model that transcribes the session's input; null: it is not transcribed. */
  get transcriptionModel(): string | null {
    return this.#audio.model
  }

  /** Ids of responses that have begun and are not done. */
  get inFlightResponseIds(): string[] {
    return [...this.#inFlight.keys()].filter(id => typeof id === 'string')
  }

  /** Of those, the ones that were rejected when they began. */
  get rejectedResponseIds(): string[] {
    return [...this.#inFlight].flatMap(([id, { rejection }]) => (rejection && typeof id === 'string' ? [id] : []))
  }

  /** Whether a response is in flight, or was asked for and may still begin. */
  get isBusy(): boolean {
    return this.#inFlight.size + this.#ahead.pendingRequests > 0
  }

  /** Reserves what the session must hold from its opening on. Throws 400, 429 or 503. */
  open(): Promise<void> {
    return this.#ahead.adjust()
  }

  /**
   * Reserves what the client's event may cost. Returns it as it is to be sent: a request for a response has an id of the proxy's. Throws
   * 400, 403, 429 or 503: then it must not be sent.
   */
  async reserveForEvent(event: JsonObject, text: string): Promise<string> {
    this.#contextTokens += estimateAudioInputTokens(text.length)
    if (this.#audio.model !== null) await this.#audio.reserve(this.#audio.model, text.length)
    if (isSettingsUpdate(event)) await this.#beforeUpdate(event)
    if (event.type !== 'response.create') return text
    return JSON.stringify({ ...event, event_id: await this.#ahead.reserveRequested(event.event_id) })
  }

  /** An event of the provider's as the client is to get it: with the id that the client gave its own event. */
  restoreEventId({ type, error }: JsonObject, text: string): string {
    return type === 'error' && isJsonObject(error) ? this.#ahead.restoreClientEventId(error.event_id, text) : text
  }

  /** Adds up what arrives, for an estimate. */
  addReceived(characters: number): void {
    for (const entry of this.#inFlight.values()) entry.receivedCharacters += characters
  }

  /** Takes an event of the provider's. Rejects with what admission throws: the session may begin no further response. */
  async handleProviderEvent(event: JsonObject): Promise<void> {
    const id = readResponseId(event)
    if (event.type === 'response.created') return this.#begin(id)
    if (event.type === 'error' && isJsonObject(event.error)) await this.#ahead.cancel(event.error.event_id)
    if (isSettingsConfirmation(event)) await this.#confirm(event)
    const usage = findUsage(event)
    const entry = this.#inFlight.get(id)
    if (!entry) return usage === undefined ? undefined : this.#recordApart(event, usage)
    entry.usage = usage ?? entry.usage
    if (event.type === 'response.done' && isJsonObject(event.response))
      await this.#finishResponse(id, entry, event.response.status)
  }

  /** Takes over the account as it was read again, and reserves what it now has to. Throws 400, 429 or 503. */
  async setAccount(resolvedKey: ResolvedKey): Promise<void> {
    this.#resolvedKey = resolvedKey
    await this.#ahead.adjust()
    if (this.#audio.model !== null) await this.#audio.reserve(this.#audio.model, 1)
  }

  /** From now on nothing is admitted: what is in flight is only waited for, and ends with this failure. */
  beginClosing(failure: Error): void {
    this.#winding = failure
  }

  /** The session has ended. What is still in flight is charged an estimate. */
  end(failure: Error): void {
    this.#hasEnded = true
    void this.#ahead.adjust()
    this.#audio.end()
    const left = [...this.#inFlight.values()]
    this.#inFlight.clear()
    for (const entry of left)
      void entry.isCounted.then(isCounted => {
        const known = {
          usage: this.#prices.estimate(entry, estimateReasonOf(failure)),
          ...(!isCounted && { isCounted: true }),
        }
        entry.recorder.finishFailed(entry.rejection ?? failure, known)
      })
  }

  #open(model = this.#start.query.model): ReservedResponse {
    return openSessionRecorder(this.#start, this.#resolvedKey, model, this.#stages)
  }

  async #openReserved(): Promise<ReservedResponse> {
    const one = this.#open()
    await one.recorder.spending?.reserveAhead(this.#start.query.model, this.#prices.maxResponseCost())
    return { ...one, hasReserved: this.#resolvedKey.has_budgets }
  }

  #begin(id: unknown): Promise<void> {
    const ahead = this.#ahead.claim() ?? this.#open()
    ahead.request.arrivedAtMs = performance.now()
    const entry: InFlight = {
      recorder: ahead.recorder,
      isCounted: Promise.resolve(false),
      rejection: null,
      usage: null,
      promptTokens: this.#contextTokens,
      receivedCharacters: 0,
    }
    this.#inFlight.set(id, entry)
    const counting = this.#winding ? Promise.reject(this.#winding) : this.#count(entry, ahead)
    entry.isCounted = counting
      .then(
        () => true,
        error => {
          entry.rejection = error
          return false
        },
      )
      .finally(() => entry.recorder.beginCall(reason => this.#prices.estimate(entry, reason)))
    return counting.then(() => this.#ahead.adjust())
  }

  /** In the month, and in the key's tokens a minute: one must be left, and what it used is counted when it is done. */
  async #count(entry: InFlight, ahead: ReservedResponse): Promise<void> {
    const { keyHash, query } = this.#start
    const { admission } = this.#stages
    const giveBack = await admission.reserveQuota(keyHash, 1)
    this.#resolvedKey = admission.findCachedKey(keyHash) ?? this.#resolvedKey
    try {
      // A budget is newer than what was opened ahead, or nothing was.
      if (this.#resolvedKey.has_budgets && !ahead.hasReserved) entry.recorder = (await this.#openReserved()).recorder
      await entry.recorder.spending?.reserve(query.model, { usd: null, tokens: 1 })
    } catch (error) {
      giveBack()
      throw error
    }
  }

  async #finishResponse(id: unknown, entry: InFlight, status: unknown): Promise<void> {
    this.#inFlight.delete(id)
    const ended = this.#winding
    const isCounted = await entry.isCounted
    const { usage, isReported, isFailed } = this.#prices.usageOfResponse(entry, status)
    if (isReported) this.#contextTokens = usage.promptTokens + usage.completionTokens
    const failure = entry.rejection ?? ended
    const known = { cacheResult: 'MISS' as const, usage, isCounted: !(isFailed && isCounted) }
    if (failure) entry.recorder.finishFailed(failure, known)
    else entry.recorder.finish({ ...known, status: isFailed ? FAILED_STATUS : 200 })
  }

  /** Usage that belongs to no response. */
  #recordApart({ type }: JsonObject, reported: unknown): void {
    const model =
      typeof type === 'string' && type.includes('transcription') ? (this.#audio.model ?? '') : this.#start.query.model
    const usage = this.#prices.readUsage(model, reported)
    if (usage) this.#open(model).recorder.finish({ status: 200, isCounted: true, cacheResult: 'MISS', usage })
  }

  /** A change of the client's: what it may cost is reserved before it is sent. */
  async #beforeUpdate(event: JsonObject): Promise<void> {
    const { model, transcription, hasAutomaticResponses } = readSessionSettings(event)
    if (model !== undefined && model !== this.#start.query.model)
      throw invalidRequestError('A session keeps the model that it was opened with; open another one.', 'session.model')
    if (typeof transcription === 'string') {
      const refusal = checkAllowedModels([transcription], this.#resolvedKey)
      if (refusal) throw refusal
      await this.#audio.reserve(transcription, 1)
    }
    if (hasAutomaticResponses && !this.#ahead.hasAutomaticResponses) {
      this.#ahead.hasAutomaticResponses = true
      await this.#ahead.adjust().catch(error => {
        this.#ahead.hasAutomaticResponses = false
        throw error
      })
    }
    this.#unconfirmed++
  }

  async #confirm(event: JsonObject): Promise<void> {
    const { transcription, hasAutomaticResponses } = readSessionSettings(event)
    if (event.type !== 'session.created') this.#unconfirmed = Math.max(0, this.#unconfirmed - 1)
    // What the client has changed since is not confirmed yet.
    if (this.#unconfirmed > 0) return
    this.#ahead.hasAutomaticResponses = hasAutomaticResponses ?? this.#ahead.hasAutomaticResponses
    await this.#ahead.adjust()
    if (typeof transcription === 'string') await this.#audio.reserve(transcription, 1)
    else if (transcription === null) this.#audio.model = null
  }
}
