/** Reads the body that starts one of Anthropic's message batches. It is strict, so that the requests it checks are the ones that run. */
import { invalidRequestError } from '../../../errors/errors.ts'
import { WorkerJob, workerPool } from '../../../event-loop/worker-pool.ts'
import { decodeUtf8, isJsonObject, type JsonObject, parseRequestBody } from '../../../formats/json/canonical.ts'
import { checkJsonSize, isLargeBody } from '../../../formats/large-bodies/read-large-body.ts'
import { findStoredObjectReferences } from '../../../formats/stored-object-references.ts'
import type { ModelAlias } from '../../../providers/aliases.ts'
import { listAlternativeModels } from '../../request/parse-request.ts'
import { requestSizeOfBody } from '../../spending/max-cost.ts'
import type { RequestSize } from '../../spending/max-tokens.ts'
import type { BatchInput } from './batch-input.ts'
import { rejectAlias } from './batch-line.ts'

export interface MessageBatchInput {
  bytes: Uint8Array
  /** Whether to compute the requests' sizes. */
  isSizeNeeded: boolean
  aliases: readonly ModelAlias[]
}

/** The unchanged body, and a summary of its requests. */
export interface MessageBatch extends BatchInput {
  bytes: Uint8Array
}

const READ_BATCH = new WorkerJob<MessageBatchInput, MessageBatch>(
  new URL('./jobs.ts', import.meta.url),
  'readMessageBatchJob',
)

/** Reads the body. A long one is transferred to a worker and back. `owner` is the project's id. */
export async function readMessageBatch(input: MessageBatchInput, owner: number): Promise<MessageBatch> {
  if (!isLargeBody(input.bytes)) return parseMessageBatch(input)
  // A view of a larger buffer cannot be transferred.
  const bytes = input.bytes.byteLength === input.bytes.buffer.byteLength ? input.bytes : input.bytes.slice()
  return workerPool.run(READ_BATCH, { ...input, bytes }, { owner, transfer: [bytes.buffer as ArrayBuffer] })
}

/** Throws a 400 that names the first invalid request. */
export function parseMessageBatch({ bytes, isSizeNeeded, aliases }: MessageBatchInput): MessageBatch {
  checkJsonSize(bytes)
  const body = parseRequestBody(decodeUtf8(bytes))
  const { requests } = body
  if (!Array.isArray(requests) || requests.length === 0)
    throw invalidRequestError('requests must be a list of requests, each with custom_id and params.', 'requests')
  const params = requests.map(readParams)
  for (const [i, { model }] of params.entries()) {
    const alias = rejectAlias(model, aliases, `requests[${i}].params.model`)
    if (alias) throw alias
  }
  const sizes: RequestSize[] = isSizeNeeded
    ? params.map(each => requestSizeOfBody('messages', each, Buffer.byteLength(JSON.stringify(each))))
    : []
  const primaryModels = [...new Set(params.map(({ model }) => model))]
  const models = [...new Set([...primaryModels, ...params.flatMap(listAlternativeModels)])]
  return {
    bytes,
    requests: requests.length,
    models,
    primaryModels,
    references: findStoredObjectReferences(body),
    sizes,
  }
}

function readParams(request: unknown, i: number): JsonObject & { model: string } {
  const { custom_id: id, params } = isJsonObject(request) ? request : {}
  if (typeof id !== 'string' || !isJsonObject(params))
    throw invalidRequestError(`requests[${i}] must have custom_id, a string, and params, an object.`, `requests[${i}]`)
  const { model } = params
  if (typeof model !== 'string')
    throw invalidRequestError(`requests[${i}].params must name a model.`, `requests[${i}].params.model`)
  return { ...params, model }
}
