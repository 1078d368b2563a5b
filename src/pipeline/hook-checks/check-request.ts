/** Asks the installation's hook about a request before anything answers it, and about what would answer it. */
import { endUserOf } from '../../formats/end-user.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import type { Hook } from '../../hooks/hook.ts'
import { PASS_THROUGH_OPERATIONS } from '../../providers/pass-through-operations.ts'
import type { HookCheck, PlannedRequest, RequestContext } from '../context/request-context.ts'
import type { Query } from '../request/query.ts'
import { createJsonPayload, createQueryPayload, type HookPayloadFormat } from './hook-payload.ts'

type Asking = Pick<RequestContext, 'request' | 'query' | 'resolvedKey'>

/** Null where there is nothing to ask. Throws as `Hook.ask` does. */
export async function checkRequest(context: Asking, hook: Hook): Promise<HookCheck | null> {
  const { request, query, resolvedKey } = context
  const options = { owner: resolvedKey.project_id, maxBytes: hook.maxBytes }
  const sent = await createQueryPayload(query, options)
  if (sent === undefined) return null
  request.body.reserveMemory(sent?.length ?? 0)
  const about = describeForHook(context)
  const { trace } = request
  const passed = await hook.decide({ phase: 'before', metadata: about, request: sent, trace })
  return {
    ...passed,
    holdsStreams: hook.streams === 'hold',
    decideOnce: hook.decideOnce,
    async checkResponse(given, stored) {
      const answer = given && (await createJsonPayload(given, { ...options, form: formOfAnswer(query) }))
      return hook.decide({ phase: 'after', metadata: { ...about, stored }, request: sent, response: answer, trace })
    },
  }
}

/** What the hook is told of a request besides what it asks. */
export function describeForHook({ request, query, resolvedKey }: Asking): JsonObject {
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
  const { control, cacheQuery } = plan
  if (!control || !check || check.mayStore) return plan
  const unstored = { ...control, store: false }
  return { ...plan, control: unstored, cacheQuery: cacheQuery && { ...cacheQuery, control: unstored } }
}

/** Whether an answer to it has text: vectors, scores and sound have none. */
export function hasTextResponse(query: Query): boolean {
  if (query.kind === 'passed') return PASS_THROUGH_OPERATIONS[query.endpoint].outputKind !== null
  return query.kind === 'completion' && query.embeddings === null
}

function formOfAnswer({ kind, endpoint }: Query): HookPayloadFormat {
  return kind === 'passed' && PASS_THROUGH_OPERATIONS[endpoint].outputKind === 'pictures' ? 'pictures' : 'json'
}
