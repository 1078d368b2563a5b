/**
 * Conversations at /v1/responses with models whose providers do not store responses under the project's own key. The proxy stores each
 * response for the calling key, so that a later request can refer to it, or to its items, instead of repeating them.
 */
import { createError, ProxyError } from '../../errors/errors.ts'
import { streamInChunks } from '../../event-loop/chunks.ts'
import { MAX_MAIN_THREAD_BYTES, WorkerJob, workerPool } from '../../event-loop/worker-pool.ts'
import { recordedEndUserOf } from '../../formats/end-user.ts'
import { asString, isJsonObject } from '../../formats/json/canonical.ts'
import type { LargeBodyReader } from '../../formats/large-bodies/read-large-body.ts'
import {
  findCallsWithoutReasoning,
  findItemReferences,
  isProxyResponseId,
} from '../../formats/responses/item-references.ts'
import {
  type RequestToResolve,
  type ResolvedRequest,
  resolveRequestReferences,
  serializeInputItems,
  type UnresolvedReferencePolicy,
} from '../../formats/responses/resolve-references.ts'
import { responsesFormat } from '../../formats/responses/responses-format.ts'
import { transformEvents } from '../../formats/sse/split-events.ts'
import { hasEventName, parseEventData } from '../../formats/sse/sse.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { type ModelRouter, withoutModelAllowlist } from '../../providers/model-router.ts'
import { type Provider, storesResponses } from '../../providers/upstream.ts'
import type { Log } from '../../telemetry/log.ts'
import { parseRequestBytes } from '../request/parse-request.ts'
import type { CompletionQuery } from '../request/query.ts'
import type { ProxyResponse } from '../request/request.ts'
import { completeBackgroundResponse, parseStoredResponse } from './background-responses.ts'
import { streamOf } from './echoed-fields.ts'
import type { StoredResponse, StoredResponses } from './stored-responses.ts'

type RequestInput = Parameters<typeof parseRequestBytes>[0]

export interface Conversations {
  /** Replaces references to stored responses and items by their content. Throws a 404 for references that are not stored for this key. */
  expandEarlierTurns(query: CompletionQuery, input: RequestInput, resolvedKey: ResolvedKey): Promise<CompletionQuery>
  /**
   * Stores a response that a client may continue or read by id, unless its provider stores it under the project's own key: before its client
   * gets its end; a background response before its client gets its id.
   */
  storeResponse(context: ResponseContext, response: ProxyResponse): Promise<ProxyResponse>
}

interface ResponseContext {
  query: CompletionQuery
  resolvedKey: ResolvedKey
}

export interface ConversationsOptions {
  responses: StoredResponses
  modelRouter: Pick<ModelRouter, 'resolve' | 'findResponseStorage'>
  largeBodies: LargeBodyReader
  log: Pick<Log, 'failures'>
}

const EXPAND = new WorkerJob<RequestToResolve, ResolvedRequest>(
  new URL('./jobs.ts', import.meta.url),
  'expandConversationJob',
)

export function createConversations(options: ConversationsOptions): Conversations {
  const { modelRouter, largeBodies } = options

  return {
    async expandEarlierTurns(query, input, resolvedKey) {
      if (!query.referencesEarlierTurns) return query
      const provider = modelRouter.resolve(query.model, resolvedKey, [], query.alias?.name)
      if (provider instanceof ProxyError) return query
      const unresolvedPolicy = unresolvedPolicyOf(provider)
      const earlier = await findEarlierTurns(query, resolvedKey, { ...options, unresolvedPolicy })
      const bytes = query.bytes ?? new TextEncoder().encode(query.text)
      if (unresolvedPolicy !== 'nothing' && !earlier.hasStoredItems) return query
      const resolved = await resolveReferences({ ...earlier, bytes, unresolvedPolicy }, resolvedKey)
      if (resolved.missingReference) {
        const { id, index } = resolved.missingReference
        throw createError('itemNotFound', { id, param: `input[${index}].id` })
      }
      const { body, alias } = query
      const expanded = await parseRequestBytes(input, resolved.bytes, largeBodies, resolvedKey.project_id)
      const createdIds = new Set(resolved.createdIds)
      const { references, content } = expanded.facts
      const facts = { references: references.filter(({ id }) => !createdIds.has(id)), content }
      const previousId = earlier.previousTurns.length > 0 ? asString(body.previous_response_id) : null
      const continued = { previousId, ownInput: limitInputLength(resolved.ownInput) }
      const resumedQuery = Object.assign(expanded, { facts, continued, ...(alias && { alias }) })
      return previousId === null ? resumedQuery : withPreviousResponse(resumedQuery, previousId)
    },

    storeResponse: createResponseStore(options),
  }
}

/** Returns which references are left to the provider: those to responses that it stores itself. */
function unresolvedPolicyOf(provider: Provider): UnresolvedReferencePolicy {
  if (storesResponses(provider)) return 'all'
  return provider.nativeEndpoints?.includes('responses') ? 'nothing' : 'foreign'
}

/** A worker resolves the references of a long request. */
function resolveReferences(
  input: RequestToResolve,
  { project_id: owner }: ResolvedKey,
): ResolvedRequest | Promise<ResolvedRequest> {
  const earlier = [...input.previousTurns, ...input.referencedResponses]
  const chars = earlier.reduce((sum, { input: own, response }) => sum + (own?.length ?? 0) + response.length, 0)
  return input.bytes.length + chars > MAX_MAIN_THREAD_BYTES
    ? workerPool.run(EXPAND, input, { owner })
    : resolveRequestReferences(input)
}

/** Makes the response name the previous one, and the request uncacheable, because it depends on stored responses. */
function withPreviousResponse(query: CompletionQuery, previousId: string): CompletionQuery {
  return Object.assign(query, {
    isCacheable: false,
    control: { ...query.control, lookup: false, store: false },
    echoedFields: { ...query.echoedFields, previous_response_id: previousId },
  })
}

interface EarlierTurns {
  previousTurns: StoredResponse[]
  referencedResponses: StoredResponse[]
  /** Whether the request refers to anything that the proxy stores or has stored. */
  hasStoredItems: boolean
}

/** Throws a 404 for a conversation that is not completely stored for this key. */
async function findEarlierTurns(
  { body }: CompletionQuery,
  resolvedKey: ResolvedKey,
  options: Pick<ConversationsOptions, 'responses' | 'modelRouter'> & { unresolvedPolicy: UnresolvedReferencePolicy },
): Promise<EarlierTurns> {
  const { responses, unresolvedPolicy } = options
  const { previous_response_id: previous } = body
  const hasPrevious = typeof previous === 'string'
  const items = findItemReferences(body)
  const calls = unresolvedPolicy === 'all' ? [] : findCallsWithoutReasoning(body)
  const [turns, named] = await Promise.all([
    hasPrevious ? responses.find(previous, resolvedKey) : [],
    responses.findReferenced([...items, ...calls], resolvedKey),
  ])
  const isStoredHere = unresolvedPolicy === 'nothing' || isProxyResponseId(previous) || turns.at(-1)?.id === previous
  const isComplete = turns[0]?.previous_id === null && turns.every(({ input }) => input !== null)
  if (hasPrevious && isStoredHere && !isComplete) throw createError('previousResponseNotFound', { id: previous })
  const hasStoredItems = turns.length + named.length > 0 || items.some(({ isProxyId }) => isProxyId)
  return {
    previousTurns: await Promise.all(turns.map(turn => completeBackgroundResponse(turn, resolvedKey, options))),
    referencedResponses: named,
    hasStoredItems,
  }
}

/** Events that contain the id of a background response. */
const FIRST_EVENTS = ['response.created', 'response.queued', 'response.in_progress']

function createResponseStore({
  responses,
  modelRouter,
  log,
}: Omit<ConversationsOptions, 'largeBodies'>): Conversations['storeResponse'] {
  async function store({ query, resolvedKey }: ResponseContext, response: string): Promise<void> {
    const details = await parseStoredResponse(response, resolvedKey)
    if (!details) return
    const { id, isUnfinished } = details
    const isStored = query.body.store !== false
    if (!isStored && !isUnfinished) return
    const { previousId, ownInput } = query.continued ?? { previousId: null, ownInput: serializeInput(query) }
    // If the response must not be stored, its id still leads to its provider.
    const content = isStored ? { ownInput, response } : { ownInput: null, response: JSON.stringify({ id }) }
    const endUser = recordedEndUserOf(query.body)
    await responses
      .store({ ...details, ...content, previousId, askedFor: endUser }, resolvedKey)
      .catch(error => log.failures.report('stored_objects', error, 'a response could not be stored', { part: 'keep' }))
  }

  /** Whether the provider stores the response for the project. */
  function isStoredByProvider({ query, resolvedKey }: ResponseContext, { headers }: ProxyResponse): boolean {
    const provider = modelRouter.resolve(headers['x-proxy-model'] ?? query.model, withoutModelAllowlist(resolvedKey))
    return !(provider instanceof ProxyError) && storesResponses(provider)
  }

  /** Stores the response of the last event; for a background response, also that of the first. */
  function storeEvents(context: ResponseContext, stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    let needsFirstEvent = context.query.body.background === true
    async function storeResponseOf(event: Uint8Array): Promise<Uint8Array> {
      const response = parseEventData(event)?.response
      if (isJsonObject(response)) await store(context, JSON.stringify(response))
      return event
    }
    return transformEvents(stream, event => {
      const isFirst = needsFirstEvent && hasEventName(event, FIRST_EVENTS)
      if (isFirst) needsFirstEvent = false
      return isFirst || responsesFormat.isLastEvent(event) ? storeResponseOf(event) : event
    })
  }

  return async (context, response) => {
    const { endpoint, body: request } = context.query
    const isStorable = request.store !== false || request.background === true
    if (endpoint !== 'responses' || !isStorable || response.status !== 200) return response
    if (isStoredByProvider(context, response)) return response
    const { body, headers } = response
    if (headers['content-type']?.includes('text/event-stream'))
      return { ...response, body: storeEvents(context, streamOf(body)) }
    const isStreamed = body instanceof ReadableStream
    const complete = isStreamed ? new Uint8Array(await new Response(body).arrayBuffer()) : body
    await store(context, typeof complete === 'string' ? complete : new TextDecoder().decode(complete))
    return isStreamed ? { ...response, body: streamInChunks(complete as Uint8Array) } : response
  }
}

function serializeInput({ body, isLarge }: CompletionQuery): string | null {
  return isLarge ? null : limitInputLength(serializeInputItems(body.input))
}

/** Returns null for input that is too long to be stored. Later requests can still refer to the response's items. */
function limitInputLength(input: string): string | null {
  return input.length > MAX_MAIN_THREAD_BYTES ? null : input
}
