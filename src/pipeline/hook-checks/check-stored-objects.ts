/** Asks the hook about what providers keep: the requests of a batch before it gets them, a kept response before it is read. */
import { createYielder } from '../../event-loop/work-scheduler.ts'
import { HookRejection } from '../../hooks/hook-response.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readAllBytes } from '../../providers/read-bytes.ts'
import type { PassThroughBody } from '../../providers/upstream.ts'
import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import type { ProxyResponse } from '../request/request.ts'
import { describeForHook } from './check-request.ts'
import { createBodyPayload, createJsonPayload, type HookPayloadFormat } from './hook-payload.ts'

/** Lines that are under way at once. */
const AT_ONCE = 16
const NO_REQUEST = Buffer.from('{}')

/** One request of a batch, or all of them, in JSON. */
export interface BatchRequest {
  bytes: Uint8Array
  /** Before what is said of one that is refused. */
  errorPrefix: string
}

/** Each by itself. Throws as `Hook.ask` does. */
export async function checkBatchRequests(
  context: RequestContext,
  lines: Iterable<BatchRequest>,
  { hook }: Pick<PipelineServices, 'hook'>,
): Promise<void> {
  if (!hook) return
  const {
    request: { trace },
    resolvedKey,
  } = context
  const about = describeForHook(context)
  const yieldTurn = createYielder()
  const underWay = new Set<Promise<void>>()
  for (const { bytes, errorPrefix } of lines) {
    const request = await createJsonPayload(bytes, { owner: resolvedKey.project_id, maxBytes: hook.maxBytes })
    const asking: Promise<void> = hook.decide({ phase: 'before', metadata: about, request, trace }).then(
      () => void underWay.delete(asking),
      error => {
        throw error instanceof HookRejection ? error.withPrefix(errorPrefix) : error
      },
    )
    // The first that may not pass ends the loop; the others' failures are the same to it.
    asking.catch(() => {})
    underWay.add(asking)
    if (underWay.size >= AT_ONCE) await Promise.race(underWay)
    await yieldTurn()
  }
  await Promise.all(underWay)
}

/** A body that a storage provider gets, without the content of files. Throws as `Hook.ask` does. */
export async function checkStoredObjectBody(
  context: RequestContext,
  body: PassThroughBody,
  { hook }: Pick<PipelineServices, 'hook'>,
): Promise<void> {
  if (!hook) return
  const options = { owner: context.resolvedKey.project_id, maxBytes: hook.maxBytes, omitsFiles: true }
  const request = await createBodyPayload(body, options)
  await hook.decide({ phase: 'before', metadata: describeForHook(context), request, trace: context.request.trace })
}

/** A query string that goes to a provider with the request, decoded. Throws as `Hook.ask` does. */
export async function checkQueryString(
  context: RequestContext,
  { hook }: Pick<PipelineServices, 'hook'>,
): Promise<void> {
  const { search, trace } = context.request
  if (!hook || search.length <= 1) return
  const fields = Map.groupBy(new URLSearchParams(search), ([name]) => name)
  const query = Object.fromEntries(Array.from(fields, ([name, given]) => [name, given.map(([, value]) => value)]))
  const bytes = Buffer.from(JSON.stringify({ query }))
  const request = await createJsonPayload(bytes, { owner: context.resolvedKey.project_id, maxBytes: hook.maxBytes })
  await hook.decide({ phase: 'before', metadata: describeForHook(context), request, trace })
}

/** The response, read whole. Throws as `Hook.ask` does. */
export async function checkStoredResponse(
  context: RequestContext,
  response: ProxyResponse,
  { hook }: Pick<PipelineServices, 'hook'>,
): Promise<ProxyResponse> {
  if (!hook || response.status !== 200) return response
  const { body } = response
  const name = context.provider?.name ?? ''
  const whole =
    body instanceof ReadableStream
      ? await readAllBytes(body, name, MAX_PLAIN_RESPONSE_BYTES, context.request.responseMemory)
      : Buffer.from(body)
  const form: HookPayloadFormat = response.headers['content-type']?.includes('text/event-stream') ? 'events' : 'json'
  const answer = await createJsonPayload(whole, {
    owner: context.resolvedKey.project_id,
    maxBytes: hook.maxBytes,
    form,
  })
  const about = { ...describeForHook(context), stored: true }
  await hook.decide({
    phase: 'after',
    metadata: about,
    request: NO_REQUEST,
    response: answer,
    trace: context.request.trace,
  })
  return { ...response, body: whole }
}
