/** Sends requests for stored objects to the hook: the requests of a batch before it is created, a stored response before it is served. */
import { createYielder } from '../../event-loop/work-scheduler.ts'
import type { Hook, HookDecision } from '../../hooks/hook.ts'
import { HookRejection } from '../../hooks/hook-response.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readAllBytes } from '../../providers/read-bytes.ts'
import type { PassThroughBody } from '../../providers/upstream.ts'
import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import type { ProxyResponse } from '../request/request.ts'
import { describeForHook } from './check-with-hook.ts'
import { createBodyPayload, createJsonPayload, type HookPayloadFormat } from './hook-payload.ts'

/** Maximum number of batch requests that are checked at once. */
const MAX_IN_FLIGHT = 16
const NO_REQUEST = Buffer.from('{}')

/** One request of a batch, or all of them, as JSON. */
export interface BatchRequest {
  bytes: Uint8Array
  /** Prefix of the error message if the hook rejects the request. */
  errorPrefix: string
}

/** Checks each request separately. Throws like `Hook.decide`. */
export async function checkBatchRequests(
  context: RequestContext,
  lines: Iterable<BatchRequest>,
  { hook }: Pick<PipelineServices, 'hook'>,
): Promise<void> {
  if (!hook) return
  const yieldIfDue = createYielder()
  const inFlight = new Set<Promise<void>>()
  for (const { bytes, errorPrefix } of lines) {
    const request = await createJsonPayload(bytes, payloadOptions(context, hook))
    const decision: Promise<void> = decideBefore(context, request, hook).then(
      () => void inFlight.delete(decision),
      error => {
        throw error instanceof HookRejection ? error.withPrefix(errorPrefix) : error
      },
    )
    // The first rejection ends the loop, so later ones are ignored.
    decision.catch(() => {})
    inFlight.add(decision)
    if (inFlight.size >= MAX_IN_FLIGHT) await Promise.race(inFlight)
    await yieldIfDue()
  }
  await Promise.all(inFlight)
}

/** Checks a body for a storage provider, without the content of files. Throws like `Hook.decide`. */
export async function checkStoredObjectBody(
  context: RequestContext,
  body: PassThroughBody,
  { hook }: Pick<PipelineServices, 'hook'>,
): Promise<void> {
  if (!hook) return
  const request = await createBodyPayload(body, { ...payloadOptions(context, hook), omitsFiles: true })
  await decideBefore(context, request, hook)
}

function payloadOptions({ resolvedKey }: RequestContext, { maxBytes }: Hook) {
  return { owner: resolvedKey.project_id, maxBytes }
}

function decideBefore(context: RequestContext, request: Uint8Array | null, hook: Hook): Promise<HookDecision> {
  return hook.decide({ phase: 'before', metadata: describeForHook(context), request, trace: context.request.trace })
}

/** Checks the decoded query string that is forwarded with the request. Throws like `Hook.decide`. */
export async function checkQueryString(
  context: RequestContext,
  { hook }: Pick<PipelineServices, 'hook'>,
): Promise<void> {
  const { search } = context.request
  if (!hook || search.length <= 1) return
  const fields = Map.groupBy(new URLSearchParams(search), ([name]) => name)
  const query = Object.fromEntries(Array.from(fields, ([name, given]) => [name, given.map(([, value]) => value)]))
  const bytes = Buffer.from(JSON.stringify({ query }))
  await decideBefore(context, await createJsonPayload(bytes, payloadOptions(context, hook)), hook)
}

/** Checks a stored response and returns it with its whole body in memory. Throws like `Hook.decide`. */
export async function checkStoredResponse(
  context: RequestContext,
  response: ProxyResponse,
  { hook }: Pick<PipelineServices, 'hook'>,
): Promise<ProxyResponse> {
  if (!hook || response.status !== 200) return response
  const { body } = response
  const { request, provider } = context
  const bytes =
    body instanceof ReadableStream
      ? await readAllBytes(body, provider?.name ?? '', MAX_PLAIN_RESPONSE_BYTES, request.responseMemory)
      : Buffer.from(body)
  const form: HookPayloadFormat = response.headers['content-type']?.includes('text/event-stream') ? 'events' : 'json'
  const payload = await createJsonPayload(bytes, { ...payloadOptions(context, hook), form })
  const metadata = { ...describeForHook(context), stored: true }
  await hook.decide({ phase: 'after', metadata, request: NO_REQUEST, response: payload, trace: request.trace })
  return { ...response, body: bytes }
}
