/** The one place that knows the order: parse, admit, exact hit, stored answer, provider. */
import type { Admission } from '../admission/admission.ts'
import { hashBearerKey } from '../admission/api-key.ts'
import type { Cache, Lookup } from '../cache/cache.ts'
import { readCacheControl } from '../cache/cache-control.ts'
import { canonicalizeBody } from '../cache/canonical.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { NO_USAGE } from '../catalogue/cost.ts'
import { ProxyError } from '../errors.ts'
import type { Routes } from '../providers/routes.ts'
import type { Provider } from '../providers/upstream.ts'
import { answerHit } from './answer-hit.ts'
import { answerMiss } from './answer-miss.ts'
import type { Arrived, Wanted } from './arrived.ts'
import { type Boarded, boardAlone, createBoarding, disembark } from './boarding.ts'
import { answerEmbeddings } from './embeddings/answer-embeddings.ts'
import type { GatherOptions } from './embeddings/gather-vectors.ts'
import { readEmbeddingsAsk } from './embeddings/read-ask.ts'
import { CLIENT_GONE_STATUS, ClientGone, type ProxyRequest, type ProxyResponse } from './exchange.ts'
import { answerInTurn, GaveWay } from './fall-back.ts'
import type { FailedAnswer } from './flight.ts'
import { follow } from './follow.ts'
import { foresee } from './foresee.ts'
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
  const boarding = createBoarding({ cache, remoteFlights })

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

    const foreseen = foresee(request, wanted, { cache, routes, boarding })
    const admitted = await admission.admit(keyHash, request.address, foreseen).catch(error => {
      foreseen.cancel()
      throw error
    })

    const { account } = admitted
    const { model, stream } = wanted.parsed
    const provider = foreseen.provider()
    const ledger = openLedger({ request, account, model, stream })
    try {
      if (provider instanceof ProxyError) throw provider
      if (provider && wanted.embeddings) {
        const { parsed, control, embeddings: ask } = wanted
        const asked = { request, parsed, ask, control, account, provider, ledger, refund: admitted.refund }
        return await answerEmbeddings(asked, { ...vectors, catalogue })
      }
      const question = foreseen.question()
      if (!provider || !question) throw new Error('Admission did not name the entry')
      const asked = { ...question, account }
      const boarded = foreseen.boarded()
      const arrived = { request, wanted, admitted, asked, boarded, provider, ledger, givesWay: () => false }
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
    if (exact) {
      if (arrived.boarded) disembark(arrived.boarded, exact)
      return answerHit(exact, parsed, provider.pricedAs, ledger)
    }

    let failed: FailedAnswer | null = null
    for (let attempt = 0; attempt < MAX_FLIGHTS; attempt++) {
      const boarded = (attempt === 0 && arrived.boarded) || boarding.board(asked, parsed.stream)
      if (!boarded) break
      const { flight, seat, departure } = boarded
      const claim = await departure?.claiming
      if (departure && claim?.isOurs) return lead(arrived, boarded, departure.looking ?? cache.find(asked), claim.entry)
      const followed = await follow({ ...arrived, parsed, flight, seat, refund: admitted.refund })
      if (!('failed' in followed)) return followed
      failed = followed.failed
    }
    if (failed && arrived.givesWay(failed)) throw new GaveWay(failed)
    if (failed) return tellFailure(failed, arrived)
    const looking = wanted.control.lookup ? cache.find(asked) : Promise.resolve({ match: null, vector: null })
    return lead(arrived, boardAlone(parsed.stream), looking)
  }

  /** Answers with what was found, else asks the provider; others may listen from the first moment on. `latest`: an entry newer than the search. */
  async function lead(
    arrived: Arrived,
    { flight, seat }: Pick<Boarded, 'flight' | 'seat'>,
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
