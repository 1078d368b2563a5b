/** Operations without a generated response: counting tokens, explaining a cache lookup, and feedback on a semantic hit. */

import { readCacheControl } from '../../cache/cache-control.ts'
import { feedbackScopes, hasCachePermission } from '../../cache/cache-scope.ts'
import { createError, invalidRequestError } from '../../errors/errors.ts'
import type { Endpoint } from '../../formats/endpoint.ts'
import { decodeUtf8, type JsonObject, parseRequestBody } from '../../formats/json/canonical.ts'
import { isLargeBody } from '../../formats/large-bodies/read-large-body.ts'
import { hasPreviousReferences } from '../../formats/responses/item-references.ts'
import { findStoredObjectReferences } from '../../formats/stored-object-references.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { callFunction } from '../../postgres/call.ts'
import { toByteaList } from '../../postgres/wire-format.ts'
import { replaceLongBody, setFields, setFieldsInLongBody } from '../../providers/long-body.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readAllBytes } from '../../providers/read-bytes.ts'
import type {
  AttemptResult,
  PipelineServices,
  RequestContext,
  UncoalescedOperation,
} from '../context/request-context.ts'
import { checkReferences } from '../ownership/check-references.ts'
import { changeModel, resolveAlias } from '../request/change-model.ts'
import { parseLargeRequest, parseRequest, parseRequestBytes, readModel } from '../request/parse-request.ts'
import type { CountTokensQuery, ExplainQuery, FeedbackQuery } from '../request/query.ts'
import type { ProxyRequest, ProxyResponse } from '../request/request.ts'
import { toResponseHeaders } from '../response/complete-call.ts'
import { createJsonResponse } from '../response/response-headers.ts'

type AuxiliaryQuery = CountTokensQuery | ExplainQuery | FeedbackQuery

export const auxiliaryOperation: UncoalescedOperation = {
  sharesCalls: false,
  read,
  serveHit: () => null,
  execute: async (context: RequestContext<AuxiliaryQuery>, stages): Promise<AttemptResult> => ({
    response: await handleRequest(context, stages),
  }),
  price: () => 0,
}

async function read(
  { target, headers, body }: ProxyRequest,
  resolvedKey: ResolvedKey,
  { largeBodies, conversations }: PipelineServices,
): Promise<AuxiliaryQuery> {
  const bytes = await body.readBytes()
  const large = isLargeBody(bytes)
    ? await largeBodies.read(bytes, { owner: resolvedKey.project_id, hold: body.reserveMemory })
    : null
  const text = large ? '' : decodeUtf8(bytes)
  const fields = large?.body ?? parseRequestBody(text)
  if (target.kind === 'count') {
    const { endpoint } = target
    const sent = large?.bytes ?? text
    const references = large?.facts.references ?? findStoredObjectReferences(fields)
    const unchanged = { model: readModel(fields), stream: false, body: fields, sentBody: sent, references }
    const countQuery = { kind: 'count', endpoint, ...unchanged } as const
    const query = await resolveAlias<CountTokensQuery>(countQuery, resolvedKey, async model => ({
      ...countQuery,
      model,
      body: { ...fields, model },
      sentBody: await renameModelInBody(sent, model, resolvedKey),
    }))
    if (endpoint !== 'responses' || !hasPreviousReferences(fields)) return query
    // Earlier turns of the conversation count, too.
    const source = { endpoint, headers, body }
    const named = typeof query.sentBody === 'string' ? new TextEncoder().encode(query.sentBody) : query.sentBody
    const parsed = await parseRequestBytes(source, named, largeBodies, resolvedKey.project_id)
    const expanded = await conversations.expandEarlierTurns(
      Object.assign(parsed, { alias: query.alias }),
      source,
      resolvedKey,
    )
    return {
      ...query,
      body: expanded.body,
      sentBody: expanded.bytes ?? expanded.text,
      references: expanded.facts.references,
    }
  }
  if (target.kind !== 'cache') throw new Error('the request target is not an auxiliary operation')
  if (target.question === 'feedback') {
    const { namespace } = readCacheControl(headers)
    return { kind: 'feedback', endpoint: 'cache/feedback', model: '', stream: false, body: fields, namespace }
  }
  const source = { endpoint: endpointOf(fields), headers }
  const parsed = large ? parseLargeRequest(source, large) : parseRequest(source, text)
  const query = await resolveAlias(parsed, resolvedKey, model =>
    changeModel(parsed, model, { resolvedKey, body, largeBodies }),
  )
  // The query is not copied: a copy would decode a long body's text, which is not needed.
  return Object.assign(query, { kind: 'explain' as const })
}

async function renameModelInBody(
  sent: string | Uint8Array,
  model: string,
  { project_id: owner }: ResolvedKey,
): Promise<string | Uint8Array> {
  return typeof sent === 'string'
    ? setFields(sent, { model })
    : setFieldsInLongBody({ bodyBytes: sent, owner }, { model })
}

/** Detects the endpoint of a request to explain from its body, because the path does not name it. */
function endpointOf(body: JsonObject): Endpoint {
  if ('messages' in body) return 'chat'
  if ('prompt' in body) return 'completions'
  throw invalidRequestError(
    'The body must be a chat completion request (with messages) or a completion request (with prompt).',
  )
}

/** Handles the request by its kind. Throws 400, 404 or 503. */
function handleRequest(context: RequestContext<AuxiliaryQuery>, stages: PipelineServices): Promise<ProxyResponse> {
  const { query } = context
  if (query.kind === 'count') return countTokens({ ...context, query }, stages)
  return query.kind === 'feedback' ? recordFeedback({ ...context, query }, stages) : explain(context, stages)
}

/** Returns the provider's own token count if it offers one, else an estimate. */
async function countTokens(
  { request, query, resolvedKey, provider }: RequestContext<CountTokensQuery>,
  { database }: PipelineServices,
): Promise<ProxyResponse> {
  if (!provider) throw createError('noAggregator')
  const { endpoint, body, sentBody, references } = query
  const storageProvider = await checkReferences(database, references, resolvedKey, provider)
  const { headers, signal } = request
  const callOptions = { endpoint, headers, stream: false, isCountOnly: true, owner: resolvedKey.project_id, signal }
  const upstream = await storageProvider.send(
    typeof sentBody === 'string'
      ? { ...callOptions, body, bodyText: sentBody }
      : replaceLongBody(callOptions, body, sentBody),
  )
  return {
    status: upstream.clientStatus ?? upstream.status,
    headers: { ...toResponseHeaders(upstream), 'x-proxy-provider': provider.name },
    body: await readAllBytes(upstream.body, provider.name, MAX_PLAIN_RESPONSE_BYTES, request.responseMemory),
  }
}

/** Explains the cache lookup of a request. No provider is called. */
async function explain(
  { cacheQuery, recorder }: RequestContext,
  { explainer }: PipelineServices,
): Promise<ProxyResponse> {
  if (!cacheQuery) throw new Error('cannot explain a request without a cache query')
  const explanation = await explainer.explain(cacheQuery)
  recorder.recordHeadersSent()
  recorder.finish({ status: 200, isCounted: true, cacheResult: null, usage: NO_USAGE })
  return createJsonResponse(explanation)
}

const MAX_ID_LENGTH = 256
/** Another process may not have written the hit yet, so feedback on an unknown hit is retried once after this time. */
const RETRY_AFTER_MS = 300

async function recordFeedback(
  { query, resolvedKey }: RequestContext<FeedbackQuery>,
  { database, recordVerdict }: PipelineServices,
): Promise<ProxyResponse> {
  const { request_id, verdict } = query.body
  if (typeof request_id !== 'string' || request_id === '' || request_id.length > MAX_ID_LENGTH) {
    throw invalidRequestError('request_id must be the X-Request-Id of a response.', 'request_id')
  }
  if (verdict !== 'wrong' && verdict !== 'right')
    throw invalidRequestError('verdict must be wrong or right.', 'verdict')
  if (!hasCachePermission(resolvedKey, 'judge'))
    throw createError('feedbackNotAllowed', { setting: resolvedKey.cache_feedback })
  const within_scopes = toByteaList(feedbackScopes(resolvedKey, query.body, query.namespace))
  const feedback = { of_project: resolvedKey.project_id, by_request_id: request_id, given: verdict, within_scopes }
  const record = () => callFunction(database, 'record_feedback', feedback)
  let outcome = await record()
  if (outcome === 'unknown') {
    await Bun.sleep(RETRY_AFTER_MS)
    outcome = await record()
  }
  if (outcome === 'unknown') throw createError('hitNotFound')
  if (outcome === 'gone') throw createError('hitExpired')
  recordVerdict('person', verdict === 'right' ? 'same' : 'different')
  return createJsonResponse({ request_id, verdict })
}
