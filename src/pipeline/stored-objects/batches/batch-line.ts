/** Reads one request of a batch. It is strict, because the provider receives the file unchanged and must find the same requests in it. */
import { invalidRequestError, ProxyError } from '../../../errors/errors.ts'
import { readBodyFacts } from '../../../formats/body-facts.ts'
import type { Endpoint } from '../../../formats/endpoint.ts'
import {
  decodeUtf8,
  hasDuplicateKeys,
  isJsonObject,
  type JsonObject,
  parseJsonObject,
} from '../../../formats/json/canonical.ts'
import { checkJsonSize } from '../../../formats/large-bodies/read-large-body.ts'
import type { StoredObjectReference } from '../../../formats/stored-object-references.ts'
import type { ModelAlias } from '../../../providers/aliases.ts'
import { listAlternativeModels } from '../../request/parse-request.ts'
import { requestSizeOfBody } from '../../spending/max-cost.ts'
import type { RequestSize } from '../../spending/max-tokens.ts'

export interface BatchLineInput {
  bytes: Uint8Array
  /** The line's number from 1, counting blank lines. */
  lineNumber: number
  /** Whether a request without a model is rejected. */
  isModelRequired: boolean
  /** The project's aliases, which providers do not know. */
  aliases?: readonly ModelAlias[]
  /** Whether to compute the request's size. */
  isSizeNeeded?: boolean
}

export interface BatchLine {
  /** The model that the request names; null if it names none. */
  primaryModel: string | null
  /** The primary model and its alternatives. */
  models: string[]
  references: StoredObjectReference[]
  /** The request's size; null unless `isSizeNeeded`. */
  size: RequestSize | null
}

/** Characters that some parsers treat as the end of a line, and that could hide requests. */
const OTHER_LINE_ENDS = /[\r\u0085\u2028\u2029]/
/** The first byte of a byte order mark, which decoding removes. No JSON text begins with it. */
const BYTE_ORDER_MARK = 0xef

/** Returns null for a blank line. Throws a 400 that names the line if it is not one request in the documented format. */
export function readBatchLine({
  bytes,
  lineNumber,
  isModelRequired,
  aliases = [],
  isSizeNeeded = false,
}: BatchLineInput): BatchLine | null {
  try {
    checkJsonSize(bytes)
    const text = decodeUtf8(bytes)
    if (/^[ \t\r]*$/.test(text)) return null
    const { url, body } = readLine(bytes[0] === BYTE_ORDER_MARK ? '' : text)
    const alias = rejectAlias(body.model, aliases)
    if (alias) throw alias
    const facts = readBodyFacts(body)
    return {
      primaryModel: typeof body.model === 'string' ? body.model : null,
      models: modelsOf(body, isModelRequired),
      // The provider receives the line unchanged, so items count as references, too.
      references: facts.references.map(each => ({ ...each, kind: each.kind === 'file' ? 'file' : 'other' })),
      size: isSizeNeeded ? requestSizeOfBody(ENDPOINTS.get(url) ?? url, body, bytes.length, { facts }) : null,
    }
  } catch (error) {
    throw error instanceof ProxyError
      ? invalidRequestError(`Line ${lineNumber} of the file: ${error.message}`, 'file')
      : error
  }
}

/** Returns a 400 if the model is an alias: the provider receives names unchanged. Returns null for any other name. */
export function rejectAlias(model: unknown, aliases: readonly ModelAlias[], param?: string): ProxyError | null {
  const alias = aliases.find(({ name }) => name === model)
  if (!alias) return null
  return invalidRequestError(
    `${alias.name} is an alias, which a batch cannot use: name its model, ${alias.model}.`,
    param,
  )
}

function readLine(text: string): { url: string; body: JsonObject } {
  if (OTHER_LINE_ENDS.test(text.replace(/\r$/, ''))) {
    throw invalidRequestError('it has a line end other than LF or CRLF; escape it inside strings (\\r, \\u2028).')
  }
  const line = parseJsonObject(text)
  if (!line) throw invalidRequestError('it must be one JSON object, in UTF-8, and nothing else.')
  if (hasDuplicateKeys(text, line))
    throw invalidRequestError('it has the same key twice in one object; keep one of them.')
  const { custom_id: id, method, url, body } = line
  if (typeof id !== 'string' || method !== 'POST' || typeof url !== 'string' || !isJsonObject(body)) {
    throw invalidRequestError('it must have custom_id, "method": "POST", url and body, an object.')
  }
  return { url, body }
}

const ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map([
  ['/v1/chat/completions', 'chat'],
  ['/v1/completions', 'completions'],
  ['/v1/responses', 'responses'],
])

function modelsOf(body: JsonObject, isModelRequired: boolean): string[] {
  const { model } = body
  if (isModelRequired && typeof model !== 'string') throw invalidRequestError('its body must name a model.')
  return [...(typeof model === 'string' ? [model] : []), ...listAlternativeModels(body)]
}
