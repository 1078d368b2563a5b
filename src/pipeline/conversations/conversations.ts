/**
 * Conversations at /v1/responses with all models but those whose provider keeps responses under the project's own key: each response is kept
 * for the key that asked, so that a later request can name it, or its items, in place of what was said.
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
import { storedObjectReferencesOf } from '../../formats/stored-object-references.ts'
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

type Asked = Parameters<typeof parseRequestBytes>[0]

export interface Conversations {
  /** Puts what was said in place of references to it. Throws a 404 for what is not kept for this key. */
  expandEarlierTurns(query: CompletionQuery, asked: Asked, resolvedKey: ResolvedKey): Promise<CompletionQuery>
  storeResponse: StoreResponse
}

export interface ConversationsOptions extends ResponseStoreOptions {
  modelRouter: Pick<ModelRouter, 'resolve' | 'findResponseStorage'>
  largeBodies: LargeBodyReader
}

const CONTINUE = new WorkerJob<RequestToResolve, ResolvedRequest>(
  new URL('../jobs.ts', import.meta.url),
  'expandConversationJob',
)

export function createConversations(options: ConversationsOptions): Conversations {
  const { modelRouter, largeBodies } = options

  return {
    async expandEarlierTurns(query, asked, account) {
      if (!query.referencesEarlierTurns) return query
      const provider = modelRouter.resolve(query.model, account, [], query.alias?.name)
      if (provider instanceof ProxyError) return query
      const leaves = leavesOf(provider)
      const found = await findEarlier(query, account, { ...options, leaves })
      const bytes = query.bytes ?? new TextEncoder().encode(query.text)
      if (leaves !== 'nothing' && !found.isAny) return query
      const written = await write({ ...found, bytes, unresolvedPolicy: leaves }, account)
      if (written.missingReference) {
        const { id, index } = written.missingReference
        throw createError('itemNotFound', { id, param: `input[${index}].id` })
      }
      const { body, alias } = query
      const whole = await parseRequestBytes(asked, written.bytes, largeBodies, account.project_id)
      const made = new Set(written.createdIds)
      const references = storedObjectReferencesOf(whole).filter(({ id }) => !made.has(id))
      const previousId = found.previousTurns.length > 0 ? asString(body.previous_response_id) : null
      const continued = { previousId, ownInput: limitInputLength(written.ownInput) }
      const resumed = Object.assign(whole, { references, continued, ...(alias && { alias }) })
      return previousId === null ? resumed : asContinued(resumed, previousId)
    },

    storeResponse: createResponseStore(options),
  }
}

/** What such a provider has made itself is left to it. */
function leavesOf(provider: Provider): UnresolvedReferencePolicy {
  if (storesResponses(provider)) return 'all'
  return provider.nativeEndpoints?.includes('responses') ? 'nothing' : 'foreign'
}

/** A long one by a worker. */
function write(
  input: RequestToResolve,
  { project_id: owner }: ResolvedKey,
): ResolvedRequest | Promise<ResolvedRequest> {
  const earlier = [...input.previousTurns, ...input.referencedResponses]
  const chars = earlier.reduce((sum, { input: own, response }) => sum + (own?.length ?? 0) + response.length, 0)
  return input.bytes.length + chars > MAX_MAIN_THREAD_BYTES
    ? workerPool.run(CONTINUE, input, { owner })
    : resolveRequestReferences(input)
}

/** Its response names the one before; and it depends on what is stored, as far as its client can tell. */
function asContinued(query: CompletionQuery, previousId: string): CompletionQuery {
  return Object.assign(query, {
    isCacheable: false,
    control: { ...query.control, lookup: false, store: false },
    echoedFields: { ...query.echoedFields, previous_response_id: previousId },
  })
}

interface Earlier {
  previousTurns: StoredResponse[]
  referencedResponses: StoredResponse[]
  /** Whether it names anything that is kept here, or would be. */
  isAny: boolean
}

/** Throws a 404 for a conversation that is not kept as a whole, under another key for example. */
async function findEarlier(
  { body }: CompletionQuery,
  resolvedKey: ResolvedKey,
  options: Pick<ConversationsOptions, 'responses' | 'modelRouter'> & { leaves: UnresolvedReferencePolicy },
): Promise<Earlier> {
  const { responses, leaves } = options
  const { previous_response_id: previous } = body
  const isNamed = typeof previous === 'string'
  const items = findItemReferences(body)
  const calls = leaves === 'all' ? [] : findCallsWithoutReasoning(body)
  const [turns, named] = await Promise.all([
    isNamed ? responses.find(previous, resolvedKey) : [],
    responses.findReferenced([...items, ...calls], resolvedKey),
  ])
  const isOurs = leaves === 'nothing' || isProxyResponseId(previous) || turns.at(-1)?.id === previous
  const isWhole = turns[0]?.previous_id === null && turns.every(({ input }) => input !== null)
  if (isNamed && isOurs && !isWhole) throw createError('previousResponseNotFound', { id: previous })
  const isAny = turns.length + named.length > 0 || items.some(({ isProxyId }) => isProxyId)
  return {
    previousTurns: await Promise.all(turns.map(turn => completeBackgroundResponse(turn, resolvedKey, options))),
    referencedResponses: named,
    isAny,
  }
}
