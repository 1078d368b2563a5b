/** Questions that no model answers: how many tokens a prompt has, what the cache would do with a request, feedback on a semantic hit. */

import { readCacheControl } from '../cache/cache-control.ts'
import { hasCacheRight, judgeableScopes } from '../cache/cache-scope.ts'
import { invalidRequest, refuse } from '../errors/errors.ts'
import { decodeUtf8, type JsonObject, parseObject } from '../formats/json/canonical.ts'
import { findKeptReferences } from '../formats/kept-references.ts'
import { isLargeBody } from '../formats/large-bodies/read-large-body.ts'
import { namesEarlier } from '../formats/responses/earlier-items.ts'
import { NO_USAGE } from '../formats/token-usage.ts'
import type { Account } from '../postgres/admit.ts'
import { call } from '../postgres/call.ts'
import { listHashes } from '../postgres/wire-format.ts'
import { withLongBody } from '../providers/long-body.ts'
import { MAX_PLAIN_BYTES, readAll } from '../providers/read-bytes.ts'
import { renameInLong, renameInText } from '../providers/rename-model.ts'
import type { Endpoint } from '../providers/upstream.ts'
import { passedOn } from './complete-call.ts'
import { forModel, resolveAlias } from './for-model.ts'
import { checkReferences } from './kept-objects/check-references.ts'
import { parseBytes, parseLargeRequest, parseRequest, readModel } from './parse-request.ts'
import type { CountQuery, ExplainQuery, FeedbackQuery } from './query.ts'
import type { ProxyRequest, ProxyResponse } from './request.ts'
import type { Attempt, LoneOperation, RequestContext, Stages } from './request-context.ts'
import { JSON_TYPE } from './response-headers.ts'

type Question = CountQuery | ExplainQuery | FeedbackQuery

export const question: LoneOperation = {
  sharesCalls: false,
  read,
  serveHit: () => null,
  ask: async (context: RequestContext<Question>, stages): Promise<Attempt> => ({
    response: await answer(context, stages),
  }),
  price: () => 0,
}

async function read(
  { target, headers, body }: ProxyRequest,
  account: Account,
  { largeBodies, conversations }: Stages,
): Promise<Question> {
  const bytes = await body.readBytes()
  const large = isLargeBody(bytes)
    ? await largeBodies.read(bytes, { owner: account.project_id, hold: body.hold })
    : null
  const text = large ? '' : decodeUtf8(bytes)
  const fields = large?.body ?? parseObject(text)
  if (target.kind === 'count') {
    const { endpoint } = target
    const sent = large?.bytes ?? text
    const asIs = { model: readModel(fields), stream: false, body: fields, sent, references: null }
    const counted = { kind: 'count', endpoint, ...asIs } as const
    const query = await resolveAlias<CountQuery>(counted, account, async model => {
      return { ...counted, model, body: { ...fields, model }, sent: await renameSent(sent, model, account) }
    })
    if (endpoint !== 'responses' || !namesEarlier(fields)) return query
    // What was said earlier counts, too.
    const asked = { endpoint, headers, body }
    const named = typeof query.sent === 'string' ? new TextEncoder().encode(query.sent) : query.sent
    const parsed = await parseBytes(asked, named, largeBodies, account.project_id)
    const whole = await conversations.resume(Object.assign(parsed, { alias: query.alias }), asked, account)
    return { ...query, body: whole.body, sent: whole.bytes ?? whole.text, references: whole.references }
  }
  if (target.kind !== 'cache') throw new Error('This asks nothing')
  if (target.question === 'feedback') {
    const { namespace } = readCacheControl(headers)
    return { kind: 'feedback', endpoint: 'cache/feedback', model: '', stream: false, body: fields, namespace }
  }
  const asked = { endpoint: endpointOf(fields), headers }
  const parsed = large ? parseLargeRequest(asked, large) : parseRequest(asked, text)
  const query = await resolveAlias(parsed, account, model => forModel(parsed, model, { account, body, largeBodies }))
  // Not copied: that would read a long body's text, which nobody asks for.
  return Object.assign(query, { kind: 'explain' as const })
}

async function renameSent(
  sent: string | Uint8Array,
  model: string,
  { project_id: owner }: Account,
): Promise<string | Uint8Array> {
  return typeof sent === 'string' ? renameInText(sent, model) : renameInLong({ bodyBytes: sent, owner }, model)
}

/** Tells the operation to be explained from its body, because the path does not name it. */
function endpointOf(body: JsonObject): Endpoint {
  if ('messages' in body) return 'chat'
  if ('prompt' in body) return 'completions'
  throw invalidRequest('Give the body of a chat completion (with messages) or of a completion (with prompt).')
}

/** Throws 400, 404 or 503. */
function answer(context: RequestContext<Question>, stages: Stages): Promise<ProxyResponse> {
  const { query } = context
  if (query.kind === 'count') return countTokens({ ...context, query }, stages)
  return query.kind === 'feedback' ? takeFeedback({ ...context, query }, stages) : explain(context, stages)
}

/** Uses the provider's own count if it offers one, else an estimate. */
async function countTokens(
  { request, query, account, provider }: RequestContext<CountQuery>,
  { database }: Stages,
): Promise<ProxyResponse> {
  if (!provider) throw refuse('noAggregator')
  const { endpoint, body, sent, references } = query
  const named = references ?? findKeptReferences(body, null)
  const keeper = await checkReferences(database, named, account, provider)
  const { headers, signal } = request
  const asked = { endpoint, headers, stream: false, onlyCounts: true, owner: account.project_id, signal }
  const answer = await keeper.ask(
    typeof sent === 'string' ? { ...asked, body, bodyText: sent } : withLongBody(asked, body, sent),
  )
  return {
    status: answer.status,
    headers: { ...passedOn(answer), 'x-proxy-provider': provider.name },
    body: await readAll(answer.body, provider.name, MAX_PLAIN_BYTES, request.held),
  }
}

/** No provider is asked. */
async function explain({ cacheQuery, recorder }: RequestContext, { explainer }: Stages): Promise<ProxyResponse> {
  if (!cacheQuery) throw new Error('What is explained is cached as a whole')
  const explanation = await explainer.explain(cacheQuery)
  recorder.recordHeadersReady()
  recorder.finish({ status: 200, counts: true, cacheResult: null, usage: NO_USAGE })
  return answerJson(explanation)
}

const MAX_ID_LENGTH = 256
/** Another process may not have written the match yet. */
const ASK_AGAIN_AFTER_MS = 300

async function takeFeedback(
  { query, account }: RequestContext<FeedbackQuery>,
  { database, noteVerdict }: Stages,
): Promise<ProxyResponse> {
  const { request_id, verdict } = query.body
  if (typeof request_id !== 'string' || request_id === '' || request_id.length > MAX_ID_LENGTH) {
    throw invalidRequest('request_id must be the X-Request-Id of an answer.', 'request_id')
  }
  if (verdict !== 'wrong' && verdict !== 'right') throw invalidRequest('verdict must be wrong or right.', 'verdict')
  if (!hasCacheRight(account, 'judge')) throw refuse('mayNotJudge', { setting: account.cache_feedback })
  const within_scopes = listHashes(judgeableScopes(account, query.body, query.namespace))
  const feedback = { of_project: account.project_id, by_request_id: request_id, given: verdict, within_scopes }
  const give = () => call(database, 'note_feedback', feedback)
  let outcome = await give()
  if (outcome === 'unknown') {
    await Bun.sleep(ASK_AGAIN_AFTER_MS)
    outcome = await give()
  }
  if (outcome === 'unknown') throw refuse('hitUnknown')
  if (outcome === 'gone') throw refuse('hitForgotten')
  noteVerdict('person', verdict === 'right' ? 'same' : 'different')
  return answerJson({ request_id, verdict })
}

function answerJson(value: unknown): ProxyResponse {
  return { status: 200, headers: { ...JSON_TYPE }, body: JSON.stringify(value) }
}
