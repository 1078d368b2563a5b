/** Reads a body that must be a JSON object, for endpoints outside the pipeline. A worker parses a large one. */
import { decodeUtf8 } from '../json/decode-utf8.ts'
import type { JsonObject } from '../json/json-object.ts'
import { isLargeBody, type LargeBodyReader } from '../large-bodies/read-large-body.ts'
import type { ProxyRequest } from './exchange.ts'
import { parseObject } from './parse-request.ts'

/** Upper bound on what clients send as an empty body. */
const MOST_BLANK = 16

export interface ReadObject {
  body: JsonObject
  /** The body as it was sent: text, or bytes for a large one. */
  sent: string | Uint8Array
}

/** Throws 400, 408, 413, 415 or 503. */
export async function readObject(
  { body }: Pick<ProxyRequest, 'body'>,
  largeBodies: LargeBodyReader,
): Promise<ReadObject> {
  return takeApart(await body.readBytes(), largeBodies)
}

async function takeApart(bytes: Uint8Array, largeBodies: LargeBodyReader): Promise<ReadObject> {
  if (isLargeBody(bytes)) {
    const large = await largeBodies.read(bytes)
    return { body: large.body, sent: large.bytes }
  }
  const text = decodeUtf8(bytes)
  return { body: parseObject(text), sent: text }
}

/** As `readObject`, for an optional body: without one the object is empty. */
export async function readOptionalObject(
  request: Pick<ProxyRequest, 'body'>,
  largeBodies: LargeBodyReader,
): Promise<JsonObject> {
  const bytes = await request.body.readBytes()
  if (bytes.length <= MOST_BLANK && decodeUtf8(bytes).trim() === '') return {}
  return (await takeApart(bytes, largeBodies)).body
}
