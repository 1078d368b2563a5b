/** Stores the turn of a response that its key did not request from a provider itself, so that its extras are restored for this key, too. */
import { MAX_MAIN_THREAD_BYTES } from '../../event-loop/worker-pool.ts'
import { recordedEndUserOf } from '../../formats/end-user.ts'
import { readTurn } from '../../formats/read-turn.ts'
import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import type { CompletionQuery } from '../request/query.ts'

/** Call with a cached response, or with one that another request shared. Only responses to requests with tools are parsed, and no long ones. */
export function storeServedTurn(
  { query, resolvedKey, provider }: RequestContext<CompletionQuery>,
  body: Uint8Array,
  { storedTurns }: Pick<PipelineServices, 'storedTurns'>,
): void {
  const { endpoint, body: request, model } = query
  if (!Array.isArray(request.tools) || query.isLarge || body.length > MAX_MAIN_THREAD_BYTES || !provider) return
  const read = async () => readTurn({ endpoint, request, response: new TextDecoder().decode(body) })
  const madeBy = `${provider.name}/${provider.modelName ?? model}`
  storedTurns.open(resolvedKey, recordedEndUserOf(request)).store(read(), madeBy)
}
