/** Reservations of responses that have not begun: one for each that the client asked for, and one for what the provider may begin by itself. */
import type { Account } from '../../postgres/admit.ts'
import type { Provider } from '../../providers/upstream.ts'
import type { AccountedRequest } from '../accounting/create-record.ts'
import type { RequestRecorder } from '../accounting/request-recorder.ts'
import type { RecordedQuery } from '../query.ts'
import type { Stages } from '../request-context.ts'

export interface SessionStart {
  request: AccountedRequest
  account: Account
  keyHash: string
  query: RecordedQuery
  /** JSON; null for none. */
  tags: string | null
  provider: Provider
  /** Whether the session only transcribes: then no response begins in it. */
  isTranscription: boolean
}

export interface Reserved {
  /** Its `arrivedAtMs` is when the response begins. */
  request: { arrivedAtMs: number }
  recorder: RequestRecorder
  hasReserved: boolean
}

export class ReservedResponses {
  /** Whether the provider may begin a response by itself. */
  respondsByItself: boolean
  readonly #reserve: () => Promise<Reserved>
  readonly #isReserved: () => boolean
  readonly #reserved: Reserved[] = []
  /** Requests for a response of which nothing was heard yet: the proxy's event id, and the client's. */
  readonly #unanswered = new Map<string, unknown>()
  #settling = Promise.resolve()

  /** `reserve` throws 400, 429 or 503. `isReserved`: whether responses have to be reserved now. */
  constructor(respondsByItself: boolean, reserve: () => Promise<Reserved>, isReserved: () => boolean) {
    this.respondsByItself = respondsByItself
    this.#reserve = reserve
    this.#isReserved = isReserved
  }

  get unanswered(): number {
    return this.#unanswered.size
  }

  /** Reserves what is missing, and releases what is too much. Throws what reserving throws. */
  settle(): Promise<void> {
    const all = this.#settling.then(async () => {
      while (this.#missing() > 0) this.#reserved.push(await this.#reserve())
      while (this.#missing() < 0) this.#reserved.pop()?.recorder.spending?.release()
    })
    this.#settling = all.catch(() => {})
    return all
  }

  /** Reserves for a response that the client asks for by the event of this id. Returns the id under which it is to be sent. */
  async ask(clientsId: unknown): Promise<string> {
    const id = `event_${crypto.randomUUID()}`
    this.#unanswered.set(id, clientsId ?? null)
    await this.settle().catch(error => {
      this.#unanswered.delete(id)
      throw error
    })
    return id
  }

  /** An error that names the proxy's id, with the client's own. */
  restoreId(id: unknown, text: string): string {
    if (typeof id !== 'string' || !this.#unanswered.has(id)) return text
    return text.replaceAll(JSON.stringify(id), JSON.stringify(this.#unanswered.get(id)))
  }

  /** No response comes of the event with this id. */
  async forget(id: unknown): Promise<void> {
    if (typeof id === 'string' && this.#unanswered.delete(id)) await this.settle()
  }

  /** A response has begun: returns what was reserved for it; undefined where nothing was. */
  take(): Reserved | undefined {
    for (const first of [...this.#unanswered.keys()].slice(0, 1)) this.#unanswered.delete(first)
    return this.#reserved.shift()
  }

  #missing(): number {
    const wanted = this.#isReserved() ? this.#unanswered.size + Number(this.respondsByItself) : 0
    return wanted - this.#reserved.length
  }
}

/** Of what is recorded apart from its session. */
export function openAccounting(
  { request, query, tags, provider }: SessionStart,
  account: Account,
  model: string,
  { accounting }: Pick<Stages, 'accounting'>,
): Reserved {
  const own = { ...request, arrivedAtMs: performance.now() }
  const recorder = accounting.open(own, account, () => {})
  recorder.setQuery({ ...query, model }, tags)
  recorder.setProvider(provider)
  return { request: own, recorder, hasReserved: false }
}
