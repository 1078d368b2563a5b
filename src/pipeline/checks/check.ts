/** Asks the installation's hook about a request before anything answers it, and about what would answer it. */
import { endUserOf } from '../../formats/end-user.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import type { Hook } from '../../hooks/hook.ts'
import { OPERATIONS } from '../../providers/operations.ts'
import type { Query } from '../query.ts'
import type { Check, Planned, RequestContext } from '../request-context.ts'
import { type ShownForm, shownJson, shownQuery } from './sent-text.ts'

type Asking = Pick<RequestContext, 'request' | 'query' | 'account'>

/** Null where there is nothing to ask. Throws as `Hook.ask` does. */
export async function checkRequest(context: Asking, hook: Hook): Promise<Check | null> {
  const { request, query, account } = context
  const options = { owner: account.project_id, mostBytes: hook.mostBytes }
  const sent = await shownQuery(query, options)
  if (sent === undefined) return null
  request.body.hold(sent?.length ?? 0)
  const about = aboutOf(context)
  const { trace } = request
  const passed = await hook.ask({ when: 'before', about, request: sent, trace })
  return {
    ...passed,
    holdsStreams: hook.streams === 'hold',
    once: hook.once,
    async ask(given, stored) {
      const answer = given && (await shownJson(given, { ...options, form: formOfAnswer(query) }))
      return hook.ask({ when: 'after', about: { ...about, stored }, request: sent, answer, trace })
    },
  }
}

/** What the hook is told of a request besides what it asks. */
export function aboutOf({ request, query, account }: Asking): JsonObject {
  return {
    request_id: request.id,
    operation: query.endpoint,
    model: query.alias?.name ?? query.model,
    project: { id: `proj_${account.project_id}`, name: account.project_name },
    key: { id: `key_${account.key_id}` },
    user: endUserOf(query.body),
  }
}

/** What is planned, without storing what must not be. */
export function withinCheck<P extends Planned>(plan: P, check: Check): P {
  const { control, cacheQuery } = plan
  if (!control || check.mayStore) return plan
  const unstored = { ...control, store: false }
  return { ...plan, control: unstored, cacheQuery: cacheQuery && { ...cacheQuery, control: unstored } }
}

/** Whether an answer to it has text: vectors, scores and sound have none. */
export function hasTextAnswer(query: Query): boolean {
  if (query.kind === 'passed') return OPERATIONS[query.endpoint].answers !== null
  return query.kind === 'completion' && query.embeddings === null
}

function formOfAnswer({ kind, endpoint }: Query): ShownForm {
  return kind === 'passed' && OPERATIONS[endpoint].answers === 'pictures' ? 'pictures' : 'json'
}
