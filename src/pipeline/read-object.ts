/** Reads a body that is to be a JSON object, for doors that answer without the pipeline: a large one is taken apart by the worker. */
import { decodeUtf8 } from '../json/decode-utf8.ts'
import type { JsonObject } from '../json/json-object.ts'
import { isLargeBody, type LargeBodyReader } from '../large-bodies/read-large-body.ts'
import type { ProxyRequest } from './exchange.ts'
import { parseObject } from './parse-request.ts'

/** What clients put into a body that is meant to be empty. */
const MOST_BLANK = 16

export interface ReadObject {
  body: JsonObject
  /** As it was sent: as text, or a large one as bytes. */
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

/** As `readObject`, for a body that may be left out: then it is empty. */
export async function readOptionalObject(
  request: Pick<ProxyRequest, 'body'>,
  largeBodies: LargeBodyReader,
): Promise<JsonObject> {
  const bytes = await request.body.readBytes()
  if (bytes.length <= MOST_BLANK && decodeUtf8(bytes).trim() === '') return {}
  return (await takeApart(bytes, largeBodies)).body
}
