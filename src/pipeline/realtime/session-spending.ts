/**
 * What a session may cost and has cost. Each response counts against the month when it begins and is recorded when it is done; usage that
 * belongs to no response, such as that of an input's transcription, is recorded by itself. Where budgets apply, the most that a response
 * may cost is reserved before it can begin, and the most that a transcription may cost before its audio is sent.
 */
import { invalidRequest } from '../../errors/errors.ts'
import { isJsonObject, type JsonObject } from '../../formats/json/canonical.ts'
import type { Account } from '../../postgres/admit.ts'
import { refuseUnallowed } from '../../providers/model-router.ts'
import type { RequestRecorder } from '../accounting/request-recorder.ts'
import type { Stages } from '../request-context.ts'
import { reasonOf } from '../spending/upstream-calls.ts'
import { ReservedAudio } from './reserved-audio.ts'
import { openAccounting, type Reserved, ReservedResponses, type SessionStart } from './reserved-responses.ts'
import { findUsage, isConfirmation, isUpdate, readSettings, responseIdOf } from './session-events.ts'
import { type Crossed, heardTokens, SessionPrices } from './session-prices.ts'

interface InFlight extends Crossed {
  recorder: RequestRecorder
  /** Whether the month had room for it. */
  isCounted: Promise<boolean>
  rejection: Error | null
}

const FAILED_STATUS = 502

export class SessionSpending {
  readonly #start: SessionStart
  readonly #stages: Pick<Stages, 'admission' | 'accounting'>
  readonly #prices: SessionPrices
  readonly #inFlight = new Map<unknown, InFlight>()
  readonly #ahead: ReservedResponses
  #account: Account
  /** Changes of settings that the provider has not confirmed. */
  #unconfirmed = 0
  readonly #audio: ReservedAudio
  /** Tokens of the conversation so far. */
  #contextTokens = 0
  #winding: Error | null = null
  #hasEnded = false

  constructor(start: SessionStart, stages: Pick<Stages, 'admission' | 'accounting' | 'catalogue'>) {
    this.#start = start
    this.#stages = stages
    this.#prices = new SessionPrices(start.query.model, start.provider, stages.catalogue)
    this.#account = start.account
    const isReserved = () => this.#account.has_budgets && !this.#hasEnded
    this.#ahead = new ReservedResponses(!start.isTranscription, () => this.#openReserved(), isReserved)
    this.#audio = new ReservedAudio({
      account: () => this.#account,
      open: model => this.#open(model).recorder,
      largest: model => this.#prices.largestTranscription(model),
    })
  }

  get account(): Account {
    return this.#account
  }

  /** The model that transcribes the session's input; null: it is not transcribed. */
  get transcription(): string | null {
    return this.#audio.model
  }

  /** Ids of responses that have begun and are not done. */
  get inFlight(): string[] {
    return [...this.#inFlight.keys()].filter(id => typeof id === 'string')
  }

  /** Of those, the ones that were rejected when they began. */
  get rejected(): string[] {
    return [...this.#inFlight].flatMap(([id, { rejection }]) => (rejection && typeof id === 'string' ? [id] : []))
  }

  /** Whether a response is in flight, or was asked for and may still begin. */
  get isBusy(): boolean {
    return this.#inFlight.size + this.#ahead.unanswered > 0
  }

  /** Reserves what the session must hold from its opening on. Throws 400, 429 or 503. */
  open(): Promise<void> {
    return this.#ahead.settle()
  }

  /**
   * Reserves what the client's event may cost. Returns it as it is to be sent: a request for a response has an id of the proxy's. Throws
   * 400, 403, 429 or 503: then it must not be sent.
   */
  async beforeSending(event: JsonObject, text: string): Promise<string> {
    this.#contextTokens += heardTokens(text.length)
    if (this.#audio.model !== null) await this.#audio.reserve(this.#audio.model, text.length)
    if (isUpdate(event)) await this.#beforeUpdate(event)
    if (event.type !== 'response.create') return text
    return JSON.stringify({ ...event, event_id: await this.#ahead.ask(event.event_id) })
  }

  /** An event of the provider's as the client is to get it: with the id that the client gave its own event. */
  restoreEventId({ type, error }: JsonObject, text: string): string {
    return type === 'error' && isJsonObject(error) ? this.#ahead.restoreId(error.event_id, text) : text
  }

  /** Adds up what arrives, for an estimate. */
  addReceived(characters: number): void {
    for (const entry of this.#inFlight.values()) entry.receivedCharacters += characters
  }

  /** Takes an event of the provider's. Rejects with what admission throws: the session may begin no further response. */
  async receive(event: JsonObject): Promise<void> {
    const id = responseIdOf(event)
    if (event.type === 'response.created') return this.#begin(id)
    if (event.type === 'error' && isJsonObject(event.error)) await this.#ahead.forget(event.error.event_id)
    if (isConfirmation(event)) await this.#confirm(event)
    const usage = findUsage(event)
    const entry = this.#inFlight.get(id)
    if (!entry) return usage === undefined ? undefined : this.#recordApart(event, usage)
    entry.usage = usage ?? entry.usage
    if (event.type === 'response.done' && isJsonObject(event.response))
      await this.#finishResponse(id, entry, event.response.status)
  }

  /** Takes over the account as it was read again, and reserves what it now has to. Throws 400, 429 or 503. */
  async setAccount(account: Account): Promise<void> {
    this.#account = account
    await this.#ahead.settle()
    if (this.#audio.model !== null) await this.#audio.reserve(this.#audio.model, 1)
  }

  /** From now on nothing is admitted: what is in flight is only waited for, and ends with this failure. */
  windUp(failure: Error): void {
    this.#winding = failure
  }

  /** The session has ended. What is still in flight is charged an estimate. */
  end(failure: Error): void {
    this.#hasEnded = true
    void this.#ahead.settle()
    this.#audio.end()
    const left = [...this.#inFlight.values()]
    this.#inFlight.clear()
    for (const entry of left)
      void entry.isCounted.then(isCounted => {
        const known = { usage: this.#prices.estimate(entry, reasonOf(failure)), ...(!isCounted && { counts: true }) }
        entry.recorder.finishFailed(entry.rejection ?? failure, known)
      })
  }

  #open(model = this.#start.query.model): Reserved {
    return openAccounting(this.#start, this.#account, model, this.#stages)
  }

  async #openReserved(): Promise<Reserved> {
    const one = this.#open()
    await one.recorder.spending?.reserveAhead(this.#start.query.model, this.#prices.largestResponse())
    return { ...one, hasReserved: this.#account.has_budgets }
  }

  #begin(id: unknown): Promise<void> {
    const ahead = this.#ahead.take() ?? this.#open()
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
    return counting.then(() => this.#ahead.settle())
  }

  /** In the month, and in the key's tokens a minute: one must be left, and what it used is counted when it is done. */
  async #count(entry: InFlight, ahead: Reserved): Promise<void> {
    const { keyHash, query } = this.#start
    const { admission } = this.#stages
    const giveBack = await admission.admitMore(keyHash, 1)
    this.#account = admission.lastKnown(keyHash) ?? this.#account
    try {
      // A budget is newer than what was opened ahead, or nothing was.
      if (this.#account.has_budgets && !ahead.hasReserved) entry.recorder = (await this.#openReserved()).recorder
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
    const { usage, isReported, isFailed } = this.#prices.ofResponse(entry, status)
    if (isReported) this.#contextTokens = usage.promptTokens + usage.completionTokens
    const failure = entry.rejection ?? ended
    const known = { cacheResult: 'MISS' as const, usage, counts: !(isFailed && isCounted) }
    if (failure) entry.recorder.finishFailed(failure, known)
    else entry.recorder.finish({ ...known, status: isFailed ? FAILED_STATUS : 200 })
  }

  /** Usage that belongs to no response. */
  #recordApart({ type }: JsonObject, reported: unknown): void {
    const model =
      typeof type === 'string' && type.includes('transcription') ? (this.#audio.model ?? '') : this.#start.query.model
    const usage = this.#prices.read(model, reported)
    if (usage) this.#open(model).recorder.finish({ status: 200, counts: true, cacheResult: 'MISS', usage })
  }

  /** A change of the client's: what it may cost is reserved before it is sent. */
  async #beforeUpdate(event: JsonObject): Promise<void> {
    const { model, transcription, respondsByItself } = readSettings(event)
    if (model !== undefined && model !== this.#start.query.model)
      throw invalidRequest('A session keeps the model that it was opened with; open another one.', 'session.model')
    if (typeof transcription === 'string') {
      const refusal = refuseUnallowed([transcription], this.#account)
      if (refusal) throw refusal
      await this.#audio.reserve(transcription, 1)
    }
    if (respondsByItself && !this.#ahead.respondsByItself) {
      this.#ahead.respondsByItself = true
      await this.#ahead.settle().catch(error => {
        this.#ahead.respondsByItself = false
        throw error
      })
    }
    this.#unconfirmed++
  }

  async #confirm(event: JsonObject): Promise<void> {
    const { transcription, respondsByItself } = readSettings(event)
    if (event.type !== 'session.created') this.#unconfirmed = Math.max(0, this.#unconfirmed - 1)
    // What the client has changed since is not confirmed yet.
    if (this.#unconfirmed > 0) return
    this.#ahead.respondsByItself = respondsByItself ?? this.#ahead.respondsByItself
    await this.#ahead.settle()
    if (typeof transcription === 'string') await this.#audio.reserve(transcription, 1)
    else if (transcription === null) this.#audio.model = null
  }
}
