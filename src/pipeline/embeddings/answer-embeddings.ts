/** Answers an embeddings request from its inputs' vectors, known and fetched: all of them in order, or none. */
import type { CacheControl } from '../../cache/cache-control.ts'
import type { Catalogue } from '../../catalogue/catalogue.ts'
import { costUsd, NO_USAGE } from '../../catalogue/cost.ts'
import { ProxyError } from '../../errors.ts'
import { createBreather } from '../../event-loop/yield.ts'
import type { AdmitRow } from '../../postgres/admit.ts'
import type { Provider } from '../../providers/upstream.ts'
import { createVectorNames, nameRoute } from '../../vector-cache/vector-name.ts'
import { CLIENT_GONE_STATUS, ClientGone, type ProxyRequest, type ProxyResponse } from '../exchange.ts'
import type { Ledger, Outcome } from '../ledger.ts'
import { JSON_TYPE, missHeaders } from '../proxy-headers.ts'
import type { ParsedBody } from '../read-request.ts'
import type { NamedInput } from './fetch-embeddings.ts'
import { type Gathered, type GatherOptions, gatherVectors } from './gather-vectors.ts'
import type { EmbeddingsAsk } from './read-ask.ts'
import { writeEmbeddingsAnswer } from './write-answer.ts'

export interface AskedEmbeddings {
  request: ProxyRequest
  parsed: ParsedBody
  ask: EmbeddingsAsk
  control: CacheControl
  account: AdmitRow
  provider: Provider
  ledger: Ledger
  /** Gives the request back to the month's quota. */
  refund(): void
}

export interface EmbeddingsOptions extends GatherOptions {
  catalogue: Catalogue
}

/** Throws a ProxyError where limits are exceeded, or upstream could not be reached or understood; ClientGone where nobody waits. */
export async function answerEmbeddings(asked: AskedEmbeddings, options: EmbeddingsOptions): Promise<ProxyResponse> {
  const { request, ask, parsed } = asked
  const breathe = createBreather()
  const inputs = nameInputs(asked)
  const gathered = await gatherVectors({ ...asked, inputs, breathe }, options)
  if (gathered.end) return endEarly(asked, gathered)

  const { known, fetched, batches } = gathered
  const vectors = inputs.flatMap(({ name }) => known.get(name) ?? fetched.get(name) ?? [])
  const body =
    findVerbatim(asked, gathered) ??
    writeEmbeddingsAnswer({
      packed: vectors.map(({ packed }) => packed),
      form: ask.form,
      model: batches[0]?.answer.model ?? vectors[0]?.answeredAs ?? parsed.model,
      promptTokens: vectors.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
    })
  const savedPromptTokens = inputs.reduce((sum, { name }) => sum + (known.get(name)?.promptTokens ?? 0), 0)
  const headers =
    batches.length === 0
      ? hitHeaders(asked, gathered, savedPromptTokens)
      : { ...batches[0]?.headers, ...partHeaders(asked, gathered, savedPromptTokens, options) }
  close(asked, gathered, { status: request.signal.aborted ? CLIENT_GONE_STATUS : 200, savedPromptTokens })
  return { status: 200, headers: { ...headers, ...JSON_TYPE }, body }
}

function nameInputs({ ask, parsed, control, provider }: AskedEmbeddings): NamedInput[] {
  const { dimensions, otherFields, inputs } = ask
  const { namespace } = control
  const nameOf = createVectorNames({
    namespace,
    route: nameRoute(provider),
    model: parsed.model,
    dimensions,
    otherFields,
  })
  return inputs.map(input => ({ name: nameOf(input), input }))
}

/** What had been fetched is kept and accounted for; the request does not count. */
function endEarly(asked: AskedEmbeddings, gathered: Gathered): ProxyResponse {
  const { end } = gathered
  if (end && 'refusal' in end) {
    asked.refund()
    close(asked, gathered, { status: end.refusal.status })
    return end.refusal
  }
  const failure = asked.request.signal.aborted ? new ClientGone() : end?.failure
  const told = failure instanceof ProxyError ? failure.status : 502
  const status = failure instanceof ClientGone ? CLIENT_GONE_STATUS : told
  if (gathered.batches.length > 0) close(asked, gathered, { status, cause: failure })
  throw failure
}

/** Upstream's own bytes, where they are the answer to just this request, in the form it wants. */
function findVerbatim({ ask }: AskedEmbeddings, { batches, known }: Gathered): Uint8Array | null {
  const [batch] = batches
  if (!batch?.isVerbatim || batches.length > 1 || known.size > 0) return null
  return batch.answer.form === ask.form && batch.answer.isInOrder ? batch.bytes : null
}

function hitHeaders({ provider }: AskedEmbeddings, { known }: Gathered, savedPromptTokens: number) {
  const now = Date.now()
  const oldest = Array.from(known.values()).reduce((least, { createdAtMs }) => Math.min(least, createdAtMs), now)
  const age = String(Math.max(0, Math.floor((now - oldest) / 1000)))
  return {
    ...missHeaders(provider.name, 0),
    age,
    'cache-status': 'model-proxy; hit',
    'x-proxy-cache': 'HIT',
    'x-proxy-cache-age': age,
    'x-proxy-tokens-saved': String(savedPromptTokens),
  }
}

function partHeaders(
  { provider, parsed }: AskedEmbeddings,
  { usage }: Gathered,
  savedPromptTokens: number,
  { catalogue }: EmbeddingsOptions,
) {
  const { name, pricedAs } = provider
  const cost = pricedAs === null ? 0 : costUsd(catalogue.find(pricedAs, parsed.model), usage)
  return { ...missHeaders(name, cost), 'x-proxy-tokens-saved': String(savedPromptTokens) }
}

function close(
  { ledger, provider }: AskedEmbeddings,
  { batches, usage }: Gathered,
  outcome: Pick<Outcome, 'status' | 'savedPromptTokens' | 'cause'>,
): void {
  const { name, pricedAs } = provider
  const isHit = outcome.status === 200 && batches.length === 0
  const saved = { ...NO_USAGE, promptTokens: outcome.savedPromptTokens ?? 0 }
  ledger.noteHeaders()
  ledger.close({
    ...outcome,
    cacheResult: isHit ? 'HIT' : 'MISS',
    provider: name,
    pricedAs,
    usage: isHit ? saved : usage,
  })
}
