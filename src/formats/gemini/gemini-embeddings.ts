/** Translates Gemini's requests for embeddings to OpenAI's, and the responses back. */

import { invalidRequestError } from '../../errors/errors.ts'
import { asObjects, asString, type JsonObject } from '../json/canonical.ts'
import { readArray } from '../json/read-fields.ts'
import { translateTextContent } from './contents-to-chat.ts'
import * as fields from './gemini-fields.ts'

/** Translates a request with one content, or with a list of requests. `taskType` and `title` are hints for Google's own models. */
export function translateEmbedRequest(given: JsonObject, model: string, isBatch: boolean): JsonObject {
  const requests = isBatch
    ? readArray(fields.readFields(given, '', new Set(['requests'])).requests, 'requests').map((item, index) => ({
        item,
        at: `requests[${index}]`,
      }))
    : [{ item: given, at: '' }]
  if (requests.length === 0) throw invalidRequestError('requests must not be empty.', 'requests')
  const read = requests.map(({ item, at }) => readEmbedRequest(item, at))
  const [{ dimensions } = { dimensions: undefined }] = read
  if (read.some(each => each.dimensions !== dimensions))
    throw invalidRequestError('outputDimensionality must be the same in all requests.', 'requests')
  return {
    model,
    input: read.map(({ text }) => text),
    encoding_format: 'float',
    ...(dimensions === undefined ? {} : { dimensions }),
  }
}

function readEmbedRequest(given: unknown, param: string): { text: string; dimensions: unknown } {
  const request = fields.readFields(given, param, fields.EMBED_FIELDS)
  const at = fields.pathTo(param, 'content')
  const texts = translateTextContent(request.content, at)
  if (texts.length === 0) throw invalidRequestError(`${at}.parts must be text.`, `${at}.parts`)
  return { text: texts.map(({ text }) => asString(text)).join('\n'), dimensions: request.outputDimensionality }
}

/** Writes the response from OpenAI's. */
export function writeEmbedResponse({ data }: JsonObject, isBatch: boolean): JsonObject {
  const embeddings = asObjects(data).map(({ embedding }) => ({ values: embedding }))
  return isBatch ? { embeddings } : { embedding: embeddings[0] ?? { values: [] } }
}
