/** The one place that knows the order: parse, admit, exact hit, stored answer, provider. */
import type { Admission, Admitted } from '../admission/admission.ts'
import { hashBearerKey } from '../admission/api-key.ts'
import type { Cache } from '../cache/cache.ts'
import { type CacheControl, readCacheControl } from '../cache/cache-control.ts'
import { canonicalizeBody, hashRequest, type RequestIdentity } from '../cache/canonical.ts'
import { type Question, readSemanticQuestion } from '../cache/question.ts'
import { ProxyError } from '../errors.ts'
import type { AdmitRow } from '../postgres/admit.ts'
import type { Catalogue } from '../pricing/catalogue.ts'
import { NO_USAGE } from '../pricing/cost.ts'
import type { Routes } from '../providers/routes.ts'
import type { Provider } from '../providers/upstream.ts'
import { entryName } from '../redis/fast-store.ts'
import { answerHit } from './answer-hit.ts'
import { answerMiss } from './answer-miss.ts'
import { CLIENT_GONE_STATUS, ClientGone, type ProxyRequest, type ProxyResponse } from './exchange.ts'
import type { Ledger, OpenLedger } from './ledger.ts'
import { missHeaders } from './proxy-headers.ts'
import { type ParsedBody, parseBody } from './read-request.ts'

export interface PipelineOptions {
  admission: Admission
  cache: Cache
  catalogue: Catalogue
  routes: Routes
  openLedger: OpenLedger
}

export type Pipeline = (request: ProxyRequest) => Promise<ProxyResponse>

/** A request that is well formed, before anybody has said that it may pass. */
interface Wanted {
  parsed: ParsedBody
  canonicalBody: string
  control: CacheControl
}

export function createPipeline({ admission, cache, catalogue, routes, openLedger }: PipelineOptions): Pipeline {
  return async request => {
    const keyHash = hashBearerKey(request.authorization)
    const wanted = await readWanted(request).catch(async error => {
      // Whoever has no right to be here is told that, rather than what is wrong with the body.
      await admission.identify(keyHash, request.address)
      throw error
    })

    let provider: Provider | ProxyError | undefined
    let identity: RequestIdentity | undefined
    let requestHash = ''
    const admitted = await admission.admit(keyHash, request.address, account => {
      provider = routes.resolve(wanted.parsed.model, account)
      if (provider instanceof ProxyError) return null
      identity = identify(request, wanted, provider)
      requestHash = hashRequest(identity)
      return wanted.control.lookup ? entryName(account.project_id, account.cache_generation, requestHash) : null
    })

    const { account } = admitted
    const { model, stream } = wanted.parsed
    const ledger = openLedger({ request, account, model, stream })
    try {
      if (provider instanceof ProxyError) throw provider
      if (!provider || !identity) throw new Error('Admission did not name the entry')
      const question = { account, control: wanted.control, identity, requestHash, model, semantic: null }
      return await answer(request, wanted, admitted, question, provider, ledger)
    } catch (error) {
      admitted.refund()
      closeFailed(ledger, error, provider)
      if (error instanceof ProxyError && isProvider(provider))
        Object.assign(error.headers, missHeaders(provider.name, 0))
      throw error
    }
  }

  async function answer(
    request: ProxyRequest,
    { parsed, control }: Wanted,
    admitted: Admitted,
    asked: Question,
    provider: Provider,
    ledger: Ledger,
  ): Promise<ProxyResponse> {
    const exact = cache.readExact(admitted.entry, asked)
    if (exact) return answerHit(exact, parsed, provider.pricedAs, ledger)

    const question = { ...asked, semantic: semanticOf(asked, admitted.account) }
    const lookup = control.lookup ? await cache.find(question) : { match: null, vector: null }
    if (lookup.match) return answerHit(lookup.match, parsed, provider.pricedAs, ledger)
    if (control.onlyIfCached) throw notCached()
    if (request.signal.aborted) throw new ClientGone()

    const upstream = new AbortController()
    request.signal.addEventListener('abort', () => upstream.abort(new ClientGone()), { once: true })
    return answerMiss(
      { request, parsed, question, lookup, provider, ledger, upstream, refund: admitted.refund },
      { cache, catalogue },
    )
  }
}

async function readWanted(request: ProxyRequest): Promise<Wanted> {
  const parsed = parseBody(request.endpoint, await request.readBody())
  return { parsed, canonicalBody: canonicalizeBody(parsed.body), control: readCacheControl(request.headers) }
}

function identify(
  { endpoint }: ProxyRequest,
  { parsed, canonicalBody, control }: Wanted,
  provider: Provider,
): RequestIdentity {
  const { body, text: bodyText } = parsed
  return { namespace: control.namespace, endpoint, route: provider.name, body, canonicalBody, bodyText }
}

/** Embeddings are never matched by similarity. */
function semanticOf({ identity }: Question, account: AdmitRow) {
  return identity.endpoint === 'embeddings' ? null : readSemanticQuestion(identity, account)
}

function notCached(): ProxyError {
  return new ProxyError({
    status: 504,
    code: 'not_cached',
    message: 'There is no stored answer to this request, and Cache-Control: only-if-cached allows no other.',
    param: 'Cache-Control',
  })
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
