/** Reservations of responses that have not begun: one for each that the client asked for, and one for what the provider may begin by itself. */
import type { ResolvedKey } from '../../../postgres/admit-requests.ts'
import type { Provider } from '../../../providers/upstream.ts'
import type { RequestMetadata } from '../../accounting/create-record.ts'
import type { RequestRecorder } from '../../accounting/request-recorder.ts'
import type { PipelineServices } from '../../context/request-context.ts'
import type { RecordedQuery } from '../../request/query.ts'

export interface SessionContext {
  request: RequestMetadata
  resolvedKey: ResolvedKey
  keyHash: string
  query: RecordedQuery
  /** JSON; null for none. */
  tags: string | null
  provider: Provider
  /** Whether the session only transcribes: then no response begins in it. */
  isTranscription: boolean
}

export interface ReservedResponse {
  /** Its `arrivedAtMs` is when the response begins. */
  request: { arrivedAtMs: number }
  recorder: RequestRecorder
  hasReserved: boolean
}

export class ReservedResponses {
  /** Whether the provider may begin a response by itself. */
  hasAutomaticResponses: boolean
  readonly #reserve: () => Promise<ReservedResponse>
  readonly #isReserved: () => boolean
  readonly #reserved: ReservedResponse[] = []
  /** Requests for a response of which nothing was heard yet: the proxy's event id, and the client's. */
  readonly #unanswered = new Map<string, unknown>()
  #settling = Promise.resolve()

  /** `reserve` throws 400, 429 or 503. `isReserved`: whether responses have to be reserved now. */
  constructor(respondsByItself: boolean, reserve: () => Promise<ReservedResponse>, isReserved: () => boolean) {
    this.hasAutomaticResponses = respondsByItself
    this.#reserve = reserve
    this.#isReserved = isReserved
  }

  get pendingRequests(): number {
    return this.#unanswered.size
  }

  /** Reserves what is missing, and releases what is too much. Throws what reserving throws. */
  adjust(): Promise<void> {
    const all = this.#settling.then(async () => {
      while (this.#missing() > 0) this.#reserved.push(await this.#reserve())
      while (this.#missing() < 0) this.#reserved.pop()?.recorder.spending?.release()
    })
    this.#settling = all.catch(() => {})
    return all
  }

  /** Reserves for a response that the client asks for by the event of this id. Returns the id under which it is to be sent. */
  async reserveRequested(clientsId: unknown): Promise<string> {
    const id = `event_${crypto.randomUUID()}`
    this.#unanswered.set(id, clientsId ?? null)
    await this.adjust().catch(error => {
      this.#unanswered.delete(id)
      throw error
    })
    return id
  }

  /** An error that names the proxy's id, with the client's own. */
  restoreClientEventId(id: unknown, text: string): string {
    if (typeof id !== 'string' || !this.#unanswered.has(id)) return text
    return text.replaceAll(JSON.stringify(id), JSON.stringify(this.#unanswered.get(id)))
  }

  /** No response comes of the event with this id. */
  async cancel(id: unknown): Promise<void> {
    if (typeof id === 'string' && this.#unanswered.delete(id)) await this.adjust()
  }

  /** A response has begun: returns what was reserved for it; undefined where nothing was. */
  claim(): ReservedResponse | undefined {
    for (const first of [...this.#unanswered.keys()].slice(0, 1)) this.#unanswered.delete(first)
    return this.#reserved.shift()
  }

  #missing(): number {
    const wanted = this.#isReserved() ? this.#unanswered.size + Number(this.hasAutomaticResponses) : 0
    return wanted - this.#reserved.length
  }
}

/** Of what is recorded apart from its session. */
export function openSessionRecorder(
  { request, query, tags, provider }: SessionContext,
  resolvedKey: ResolvedKey,
  model: string,
  { accounting }: Pick<PipelineServices, 'accounting'>,
): ReservedResponse {
  const own = { ...request, arrivedAtMs: performance.now() }
  const recorder = accounting.open(own, resolvedKey, () => {})
  recorder.setQuery({ ...query, model }, tags)
  recorder.setProvider(provider)
  return { request: own, recorder, hasReserved: false }
}
