/**
 * Sends a request to the installation's hook before it is answered, and responses before they are served: providers' responses, and cached ones
 * if the hook's policy has changed since.
 */
import type { CacheQuery } from '../../cache/cache-query.ts'
import type { CachedResponseMatch } from '../../cache/entry.ts'
import type { LookupResult } from '../../cache/lookup.ts'
import { endUserOf } from '../../formats/end-user.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import type { Hook, HookDecision } from '../../hooks/hook.ts'
import { HookRejection } from '../../hooks/hook-response.ts'
import { PASS_THROUGH_OPERATIONS } from '../../providers/pass-through-operations.ts'
import { changeControl } from '../context/plan-request.ts'
import type {
  HookCheck,
  PipelineServices,
  PlannedRequest,
  RequestContext,
  RoutedContext,
} from '../context/request-context.ts'
import type { Query } from '../request/query.ts'
import type { CallUsage } from '../spending/call-usage.ts'
import { createJsonPayload, createRequestPayload, type HookPayloadFormat } from './hook-payload.ts'

type HookSubject = Pick<RequestContext, 'request' | 'query' | 'resolvedKey'>

/** Returns null for a request without content for the hook. Throws like `Hook.decide`. */
export async function checkRequest(context: HookSubject, hook: Hook): Promise<HookCheck | null> {
  const { request, query, resolvedKey } = context
  const options = { owner: resolvedKey.project_id, maxBytes: hook.maxBytes }
  const requestPayload = await createRequestPayload(query, options)
  if (requestPayload === undefined) return null
  request.body.reserveMemory(requestPayload?.length ?? 0)
  const metadata = describeForHook(context)
  const { trace } = request
  const decision = await hook.decide({ phase: 'before', metadata, request: requestPayload, trace })
  return {
    ...decision,
    holdsStreams: hook.streams === 'hold',
    decideOnce: hook.decideOnce,
    async checkResponse(response, isStored) {
      const responsePayload =
        response && (await createJsonPayload(response, { ...options, form: responseFormat(query) }))
      return hook.decide({
        phase: 'after',
        metadata: { ...metadata, stored: isStored },
        request: requestPayload,
        response: responsePayload,
        trace,
      })
    },
  }
}

/** Returns the metadata that the hook gets beside a request's body. */
export function describeForHook({ request, query, resolvedKey }: HookSubject): JsonObject {
  return {
    request_id: request.id,
    operation: query.endpoint,
    model: query.alias?.name ?? query.model,
    project: { id: `proj_${resolvedKey.project_id}`, name: resolvedKey.project_name },
    key: { id: `key_${resolvedKey.key_id}` },
    user: endUserOf(query.body),
  }
}

/** Returns the plan; without storing the response if the hook forbids it. */
export function applyHookDecision<P extends PlannedRequest>(plan: P, check: HookCheck | null): P {
  return !check || check.mayStore ? plan : changeControl(plan, { store: false })
}

/** Whether the response has text. Vectors, scores and audio have none. */
export function hasTextResponse(query: Query): boolean {
  if (query.kind === 'pass_through') return PASS_THROUGH_OPERATIONS[query.endpoint].outputKind !== null
  return query.kind === 'completion' && query.embeddings === null
}

function responseFormat({ kind, endpoint }: Query): HookPayloadFormat {
  return kind === 'pass_through' && PASS_THROUGH_OPERATIONS[endpoint].outputKind === 'pictures' ? 'pictures' : 'json'
}

/**
 * Sends a provider's response to the hook. Returns null if there is no hook or no text. Throws if the response is rejected; the request is then
 * recorded with its cost, and counts against limits.
 */
export async function checkResponse(
  { check, query, recorder }: RoutedContext,
  response: Uint8Array | null,
  usage: CallUsage,
): Promise<HookDecision | null> {
  if (!check || !hasTextResponse(query)) return null
  try {
    return await check.checkResponse(response, false)
  } catch (error) {
    recorder.finishFailed(error, { usage, isCounted: error instanceof HookRejection })
    throw error
  }
}

/** Returns the cached response; null if the hook rejects it. The hook is not called if the response passed under the request's policy. */
export async function checkCachedResponse(
  { check, query, cacheQuery }: Pick<RequestContext, 'check' | 'query' | 'cacheQuery'>,
  match: CachedResponseMatch,
  { cache }: Pick<PipelineServices, 'cache'>,
): Promise<CachedResponseMatch | null> {
  if (!check || !cacheQuery || match.entry.policy === check.policy || !hasTextResponse(query)) return match
  const decisionName = `${cacheQuery.exactKey} ${match.id} ${check.policy} ${Bun.SHA256.hash(match.entry.body, 'hex')}`
  const policy = await check.decideOnce(decisionName, () => checkAgain(check, cacheQuery, match, cache))
  return policy === REJECTED ? null : { ...match, entry: { ...match.entry, policy } }
}

const REJECTED = Symbol('rejected')

/** Returns the policy under which the response passes now; null if the hook was unreachable. */
async function checkAgain(
  check: HookCheck,
  cacheQuery: CacheQuery,
  match: CachedResponseMatch,
  cache: PipelineServices['cache'],
): Promise<string | typeof REJECTED | null> {
  try {
    const { policy, mayStore } = await check.checkResponse(match.entry.body, true)
    if (!mayStore) await cache.deleteEntry(cacheQuery, match)
    else if (policy !== null) cache.updateEntryPolicy(cacheQuery, { ...match, entry: { ...match.entry, policy } })
    return policy
  } catch (error) {
    if (!(error instanceof HookRejection)) throw error
    await cache.deleteEntry(cacheQuery, match)
    return REJECTED
  }
}

/** Checks the match of a lookup result. A rejected match becomes a miss. */
export async function checkLookupResult(
  context: Pick<RequestContext, 'check' | 'query' | 'cacheQuery'>,
  lookup: LookupResult,
  services: Pick<PipelineServices, 'cache'>,
): Promise<LookupResult> {
  if (!lookup.match) return lookup
  const match = await checkCachedResponse(context, lookup.match, services)
  return match ? { ...lookup, match } : { ...lookup, match, missReason: 'refused' }
}
