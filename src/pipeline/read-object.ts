/** Reads a body that must be a JSON object, for endpoints outside the pipeline. A worker parses a large one. */
import { decodeUtf8 } from '../json/decode-utf8.ts'
import type { JsonObject } from '../json/json-object.ts'
import { isLargeBody, type LargeBodyReader } from '../large-bodies/read-large-body.ts'
import type { ProxyRequest } from './exchange.ts'
import { parseObject } from './parse-request.ts'

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
  const bytes = await body.readBytes()
  if (isLargeBody(bytes)) {
    const large = await largeBodies.read(bytes, { hold: body.hold })
    return { body: large.body, sent: large.bytes }
  }
  const text = decodeUtf8(bytes)
  return { body: parseObject(text), sent: text }
}
