/** Parses a pass-through request: which model it is for, and whether it may be answered from the cache. */
import { type CacheControl, readCacheControl } from '../../cache/cache-control.ts'
import { invalidRequest } from '../../errors.ts'
import type { JsonObject } from '../../json/json-object.ts'
import type { LargeBodyReader } from '../../large-bodies/read-large-body.ts'
import { OPERATIONS, type Operation } from '../../providers/operations.ts'
import type { PassedBody } from '../../providers/upstream.ts'
import type { ProxyRequest } from '../exchange.ts'
import { readModel } from '../parse-request.ts'
import { type ReadBody, readPassedBody } from './read-passed-body.ts'

export interface PassedQuery {
  endpoint: Operation
  headers: Headers
  /** As the request names it; else the default in the operation's documentation. */
  model: string
  stream: boolean
  /** The body's fields. */
  body: JsonObject
  passed: PassedBody
  references: ReadBody['references']
  control: CacheControl
  /** For the cache; null when the response is not stored. */
  json: ReadBody['json']
}

/** Throws what reading a body throws, and a 400 that names the field or header. */
export async function parsePassed(
  request: ProxyRequest,
  operation: Operation,
  largeBodies: LargeBodyReader,
): Promise<PassedQuery> {
  const { headers } = request
  const { takesForms, defaultModel, isCached } = OPERATIONS[operation]
  const control = readCacheControl(headers)
  const { passed, json, references } = await readPassedBody(request, takesForms, largeBodies)
  const { fields } = passed
  const model = defaultModel !== null && (fields.model ?? null) === null ? defaultModel : readModel(fields)
  const stream = isStreamed(fields)
  return {
    endpoint: operation,
    headers,
    model,
    stream,
    body: fields,
    passed,
    references,
    control,
    json: isCached && !stream ? json : null,
  }
}

/** In a form, booleans are text. */
function isStreamed({ stream, stream_format }: JsonObject): boolean {
  if (![undefined, null, true, false, 'true', 'false'].some(known => known === stream)) {
    throw invalidRequest('stream must be true or false.', 'stream')
  }
  return stream === true || stream === 'true' || stream_format === 'sse'
}
