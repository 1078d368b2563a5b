/** Sends a request to the installation's hook before it is answered. Returns what checks its response later. */
import { endUserOf } from '../../formats/end-user.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import type { Hook } from '../../hooks/hook.ts'
import { PASS_THROUGH_OPERATIONS } from '../../providers/pass-through-operations.ts'
import { changeControl } from '../context/plan-request.ts'
import type { HookCheck, PlannedRequest, RequestContext } from '../context/request-context.ts'
import type { Query } from '../request/query.ts'
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
