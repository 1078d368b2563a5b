/**
 * Conversations at /v1/responses with models whose providers do not store responses under the project's own key. The proxy stores each
 * response for the calling key, so that a later request can refer to it, or to its items, instead of repeating them.
 */
import { createError, ProxyError } from '../../errors/errors.ts'
import { MAX_MAIN_THREAD_BYTES, WorkerJob, workerPool } from '../../event-loop/worker-pool.ts'
import { asString } from '../../formats/json/canonical.ts'
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
  type UnresolvedReferencePolicy,
} from '../../formats/responses/resolve-references.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import type { ModelRouter } from '../../providers/model-router.ts'
import { type Provider, storesResponses } from '../../providers/upstream.ts'
import { parseRequestBytes } from '../request/parse-request.ts'
import type { CompletionQuery } from '../request/query.ts'
import { completeBackgroundResponse } from './background-responses.ts'
import {
  createResponseStore,
  limitInputLength,
  type ResponseStoreOptions,
  type StoreResponse,
} from './store-response.ts'
import type { StoredResponse } from './stored-responses.ts'

type RequestInput = Parameters<typeof parseRequestBytes>[0]

export interface Conversations {
  /** Replaces references to stored responses and items by their content. Throws a 404 for references that are not stored for this key. */
  expandEarlierTurns(query: CompletionQuery, input: RequestInput, resolvedKey: ResolvedKey): Promise<CompletionQuery>
  storeResponse: StoreResponse
}

export interface ConversationsOptions extends ResponseStoreOptions {
  modelRouter: Pick<ModelRouter, 'resolve' | 'findResponseStorage'>
  largeBodies: LargeBodyReader
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
