/** Answers an embeddings request from its inputs' vectors, cached and fetched: all of them in order, or none. */
import { NO_USAGE } from '../../catalogue/cost.ts'
import { ClientGone, ProxyError } from '../../errors.ts'
import { createYieldTurn, type YieldTurn } from '../../event-loop/yield.ts'
import { answerHeaders } from '../../providers/forwarded-headers.ts'
import { nameRoute } from '../../providers/name-route.ts'
import { createVectorNames } from '../../vector-cache/vector-name.ts'
import { priceOf } from '../complete-call.ts'
import { CLIENT_GONE_STATUS, type ProxyResponse } from '../exchange.ts'
import type { Outcome } from '../outcome.ts'
import type { RequestContext } from '../request-context.ts'
import { JSON_TYPE, missHeaders, partsHitHeaders } from '../response-headers.ts'
import type { Stages } from '../stages.ts'
import { createInputCounter } from './count-inputs.ts'
import type { NamedInput } from './embeddings-job.ts'
import { type Gathered, gatherVectors } from './gather-vectors.ts'
import type { EmbeddingsQuery } from './read-query.ts'
import { writeEmbeddingsAnswer } from './write-answer.ts'

/**
 * Throws a ProxyError when limits are exceeded or the upstream cannot be reached or understood, and ClientGone when the client has left.
 */
export async function answerEmbeddings(
  context: RequestContext,
  embeddings: EmbeddingsQuery,
  stages: Stages,
): Promise<ProxyResponse> {
  const { request, query, provider } = context
  const yieldTurn = createYieldTurn()
  const inputs = await nameInputs(context, embeddings, yieldTurn)
  const counter = createInputCounter(query.model, yieldTurn)
  const gathered = await gatherVectors({ context, inputs, counter, yieldTurn, stages })
  if (gathered.end) return endEarly(context, gathered)

  const { known, fetched, batches } = gathered
  const vectors = inputs.flatMap(({ name }) => known.get(name) ?? fetched.get(name) ?? [])
  const body =
    findVerbatim(embeddings, gathered) ??
    writeEmbeddingsAnswer({
      packed: vectors.map(({ packed }) => packed),
      form: embeddings.form,
      model: batches[0]?.answer.model ?? vectors[0]?.answeredAs ?? query.model,
      promptTokens: vectors.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
    })
  const savedPromptTokens = inputs.reduce((sum, { name }) => sum + (known.get(name)?.promptTokens ?? 0), 0)
  const cost = missHeaders(provider.name, priceOf(context, gathered.usage, stages))
  const headers =
    batches.length === 0
      ? partsHitHeaders(provider.name, oldestOf(known), savedPromptTokens)
      : { ...batches[0]?.headers, ...cost, 'x-proxy-tokens-saved': String(savedPromptTokens) }
  const status = request.signal.aborted ? CLIENT_GONE_STATUS : 200
  finish(context, gathered, { status, counts: true, savedPromptTokens })
  return { status: 200, headers: { ...headers, ...JSON_TYPE }, body }
}

async function nameInputs(
  { query, provider }: RequestContext,
  { dimensions, otherFields, inputs }: EmbeddingsQuery,
  yieldTurn: YieldTurn,
): Promise<NamedInput[]> {
  const { control, model } = query
  const { namespace } = control
  const headers = answerHeaders(query.headers, provider.kind)
  const nameOf = createVectorNames({ namespace, route: nameRoute(provider), headers, model, dimensions, otherFields })
  const named: NamedInput[] = []
  for (const input of inputs) {
    await yieldTurn()
    named.push({ name: nameOf(input), input })
  }
  return named
}

/** The batches fetched so far are kept and accounted for; the request does not count. */
function endEarly(context: RequestContext, gathered: Gathered): ProxyResponse {
  const { end } = gathered
  if (end && 'refusal' in end) {
    finish(context, gathered, { status: end.refusal.status, counts: false })
    return end.refusal
  }
  const failure = context.request.signal.aborted ? new ClientGone() : end?.failure
  if (gathered.batches.length > 0) {
    const isGone = failure instanceof ClientGone
    const status = failure instanceof ProxyError ? failure.status : 502
    finish(context, gathered, { status: isGone ? CLIENT_GONE_STATUS : status, counts: isGone, cause: failure })
  }
  throw failure
}

/** The upstream's own bytes, if they answer exactly this request in the encoding it asks for; else null. */
function findVerbatim({ form }: EmbeddingsQuery, { batches, known }: Gathered): Uint8Array | null {
  const [batch] = batches
  if (!batch?.isVerbatim || batches.length > 1 || known.size > 0) return null
  return batch.answer.form === form && batch.answer.isInOrder ? batch.bytes : null
}

function oldestOf(known: Gathered['known']): number {
  return Array.from(known.values()).reduce((least, { createdAtMs }) => Math.min(least, createdAtMs), Date.now())
}

function finish(
  { accounting, provider }: RequestContext,
  { batches, usage }: Gathered,
  outcome: Pick<Outcome, 'status' | 'counts' | 'savedPromptTokens' | 'cause'>,
): void {
  const { name, pricedAs } = provider
  const isHit = outcome.status === 200 && batches.length === 0
  const saved = { ...NO_USAGE, promptTokens: outcome.savedPromptTokens ?? 0 }
  accounting.noteHeaders()
  accounting.finish({
    ...outcome,
    cacheResult: isHit ? 'HIT' : 'MISS',
    provider: name,
    pricedAs,
    usage: isHit ? saved : usage,
  })
}
