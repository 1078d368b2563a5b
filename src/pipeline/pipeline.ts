/** The one place that knows the order: parse, admit, exact hit, stored answer, provider. */
import type { Admission } from '../admission/admission.ts'
import { hashBearerKey } from '../admission/api-key.ts'
import type { Cache, Lookup } from '../cache/cache.ts'
import { type CacheControl, readCacheControl } from '../cache/cache-control.ts'
import { canonicalizeBody } from '../cache/canonical.ts'
import { nameEntry, type Question } from '../cache/question.ts'
import { readEmbeddingsAsk } from '../embeddings/read-ask.ts'
import { ProxyError } from '../errors.ts'
import type { Catalogue } from '../pricing/catalogue.ts'
import { NO_USAGE } from '../pricing/cost.ts'
import type { Routes } from '../providers/routes.ts'
import type { Provider } from '../providers/upstream.ts'
import { flightName } from '../redis/fast-store.ts'
import { answerEmbeddings } from './answer-embeddings.ts'
import { answerHit } from './answer-hit.ts'
import { answerMiss } from './answer-miss.ts'
import { type Arrived, toQuestion, type Wanted } from './arrived.ts'
import { CLIENT_GONE_STATUS, ClientGone, type ProxyRequest, type ProxyResponse } from './exchange.ts'
import { answerInTurn, GaveWay } from './fall-back.ts'
import { createFlight, type FailedAnswer, type Flight, type Seat } from './flight.ts'
import { follow } from './follow.ts'
import type { GatherOptions } from './gather-vectors.ts'
import type { Ledger, OpenLedger } from './ledger.ts'
import { notCached } from './not-cached.ts'
import { missHeaders } from './proxy-headers.ts'
import { parseBody } from './read-request.ts'
import type { RemoteFlights } from './remote-flights.ts'

export interface PipelineOptions {
  admission: Admission
  cache: Cache
  catalogue: Catalogue
  routes: Routes
  openLedger: OpenLedger
  remoteFlights: RemoteFlights
  /** Where vectors are kept, and which are under way. */
  vectors: GatherOptions
}

export type Pipeline = (request: ProxyRequest) => Promise<ProxyResponse>

export function createPipeline({
  admission,
  cache,
  catalogue,
  routes,
  openLedger,
  remoteFlights,
  vectors,
}: PipelineOptions): Pipeline {
  const flights = new Map<string, Flight>()

  return async request => {
    const keyHash = hashBearerKey(request.authorization)
    let wanted: Wanted
    try {
      wanted = readWanted(request, await request.readBody())
    } catch (error) {
      // Whoever has no right to be here is told that, rather than what is wrong with the body.
      await admission.identify(keyHash, request.address)
      throw error
    }

    let provider: Provider | ProxyError | undefined
    let guessed: Question | undefined
    const admitted = await admission.admit(keyHash, request.address, {
      entryOf(account) {
        provider = routes.resolve(wanted.parsed.model, account)
        if (provider instanceof ProxyError || wanted.embeddings) return null
        guessed = toQuestion(request, wanted, account, provider)
        return wanted.control.lookup ? nameEntry(guessed) : null
      },
      meanwhile() {
        if (guessed) cache.prepare(guessed)
      },
    })

    const { account } = admitted
    const { model, stream } = wanted.parsed
    const ledger = openLedger({ request, account, model, stream })
    try {
      if (provider instanceof ProxyError) throw provider
      if (provider && wanted.embeddings) {
        const { parsed, control, embeddings: ask } = wanted
        const asked = { request, parsed, ask, control, account, provider, ledger, refund: admitted.refund }
        return await answerEmbeddings(asked, { ...vectors, catalogue })
      }
      if (!provider || !guessed) throw new Error('Admission did not name the entry')
      const asked = { ...guessed, account }
      const arrived = { request, wanted, admitted, asked, provider, ledger, givesWay: () => false }
      return await answerInTurn(arrived, { routes, answer, tellFailure })
    } catch (error) {
      admitted.refund()
      closeFailed(ledger, error, provider)
      if (error instanceof ProxyError && isProvider(provider))
        Object.assign(error.headers, missHeaders(provider.name, 0))
      throw error
    }
  }

  /** A miss is answered by a flight: by the one that is under way for the same request, else by one of its own. */
  async function answer(arrived: Arrived): Promise<ProxyResponse> {
    const { wanted, admitted, asked, provider, ledger } = arrived
    const { parsed } = wanted
    const exact = cache.readExact(admitted.entry, asked)
    if (exact) return answerHit(exact, parsed, provider.pricedAs, ledger)

    let failed: FailedAnswer | null = null
    for (let attempt = 0; mayShare(wanted.control) && attempt < MAX_FLIGHTS; attempt++) {
      const name = nameFlight(asked)
      const underWay = flights.get(name)
      const flight = underWay ?? startFlight(name)
      const seat = flight.board(parsed.stream)
      if (!seat) break
      if (!underWay) {
        // Both at once, unless looking costs money. What another process lands between the two is no miss: the claim brings it along.
        const claiming = remoteFlights.claimLead(name, flight, nameEntry(asked))
        const early = cache.findsForFree ? cache.find(asked) : null
        const claim = await claiming
        if (claim.isOurs) return lead(arrived, flight, seat, early ?? cache.find(asked), claim.entry)
      }
      const followed = await follow({ ...arrived, parsed, flight, seat, refund: admitted.refund })
      if (!('failed' in followed)) return followed
      failed = followed.failed
    }
    if (failed && arrived.givesWay(failed)) throw new GaveWay(failed)
    if (failed) return tellFailure(failed, arrived)
    const alone = createFlight()
    const looking = wanted.control.lookup ? cache.find(asked) : Promise.resolve({ match: null, vector: null })
    return lead(arrived, alone, alone.board(parsed.stream) as Seat, looking)
  }

  /** From now on, identical requests find it. */
  function startFlight(name: string): Flight {
    const flight = createFlight()
    flights.set(name, flight)
    void flight.landed.then(() => {
      if (flights.get(name) === flight) flights.delete(name)
    })
    return flight
  }

  /** Answers with what was found, else asks the provider; others may listen from the first moment on. `latest`: an entry newer than the search. */
  async function lead(
    arrived: Arrived,
    flight: Flight,
    seat: Seat,
    looking: Promise<Lookup>,
    latest: Uint8Array | null = null,
  ): Promise<ProxyResponse> {
    const { request, wanted, admitted, asked, provider, ledger, givesWay } = arrived
    const { parsed, control } = wanted
    // An abort that has happened already is not told again.
    if (request.signal.aborted) seat.leave()
    else request.signal.addEventListener('abort', seat.leave, { once: true })
    try {
      const lookup = await looking
      const match = lookup.match ?? cache.readExact(latest, asked)
      if (match) {
        flight.land({ kind: 'match', match })
        return answerHit(match, parsed, provider.pricedAs, ledger)
      }
      if (control.onlyIfCached) throw notCached()
      if (flight.signal.aborted) throw new ClientGone()
      const { refund } = admitted
      const miss = { request, parsed, question: asked, lookup, provider, ledger, flight, seat, givesWay, refund }
      return await answerMiss(miss, { cache, catalogue })
    } catch (error) {
      flight.land({ kind: 'unshared', failed: asFailedAnswer(error) })
      throw error
    }
  }
}

/** Flights that a request waits for before it takes the last one's failure for its own. */
const MAX_FLIGHTS = 2

/** Who wants a fresh answer, or leaves none behind, or would not wait for one, goes alone. */
function mayShare(control: CacheControl): boolean {
  return control.lookup && control.store && !control.onlyIfCached
}

/** Requests of one name take the same answer: identical ones that would also accept the same stored answers. */
function nameFlight({ account, requestHash, control }: Question): string {
  const { project_id, cache_generation } = account
  return flightName(
    project_id,
    cache_generation,
    `${requestHash}:${control.threshold ?? ''}:${control.maxAgeSeconds ?? ''}`,
  )
}

/** The failure of a flight that others led becomes this request's own. */
function tellFailure(failed: FailedAnswer, { admitted, provider, ledger }: Arrived): ProxyResponse {
  if (failed instanceof Error) throw failed instanceof ClientGone ? internalFailure(failed) : failed
  if (failed.status !== 200) admitted.refund()
  ledger.noteHeaders()
  ledger.close({ status: failed.status, cacheResult: 'MISS', provider: provider.name, pricedAs: null, usage: NO_USAGE })
  return { status: failed.status, headers: { ...failed.headers }, body: failed.body }
}

function asFailedAnswer(error: unknown): FailedAnswer {
  if (error instanceof GaveWay) return error.failed
  return error instanceof ProxyError || error instanceof ClientGone ? error : internalFailure(error)
}

function internalFailure(cause: unknown): ProxyError {
  return new ProxyError({ status: 502, code: 'upstream_error', message: 'The request could not be answered.', cause })
}

function readWanted({ endpoint, headers }: ProxyRequest, bodyText: string): Wanted {
  const parsed = parseBody(endpoint, bodyText)
  const embeddings = endpoint === 'embeddings' ? readEmbeddingsAsk(parsed.body) : null
  const canonicalBody = embeddings ? '' : canonicalizeBody(parsed.body)
  return { parsed, canonicalBody, control: readCacheControl(headers), embeddings }
}

function closeFailed(ledger: Ledger, error: unknown, provider: Provider | ProxyError | undefined): void {
  const status = error instanceof ClientGone ? CLIENT_GONE_STATUS : error instanceof ProxyError ? error.status : 500
  const reached = isProvider(provider) ? provider.name : null
  ledger.close({
    status,
    cacheResult: reached === null ? null : 'MISS',
    provider: reached,
    pricedAs: null,
    usage: NO_USAGE,
    cause: error,
  })
}

function isProvider(provider: Provider | ProxyError | undefined): provider is Provider {
  return provider !== undefined && !(provider instanceof ProxyError)
}
