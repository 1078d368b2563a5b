/** Reads one request of a batch, strictly: the provider gets the file as it is, and must find the same requests in it. */
import { invalidRequestError, ProxyError } from '../../../errors/errors.ts'
import {
  decodeUtf8,
  hasDuplicateKeys,
  isJsonObject,
  type JsonObject,
  parseJsonObject,
} from '../../../formats/json/canonical.ts'
import { checkJsonSize } from '../../../formats/large-bodies/read-large-body.ts'
import { findStoredObjectReferences, type StoredObjectReference } from '../../../formats/stored-object-references.ts'
import type { ModelAlias } from '../../../providers/aliases.ts'
import type { Endpoint } from '../../../providers/upstream.ts'
import { listAlternativeModels } from '../../request/parse-request.ts'
import { requestSizeOfBody } from '../../spending/max-cost.ts'
import type { RequestSize } from '../../spending/max-tokens.ts'

export interface BatchLineInput {
  bytes: Uint8Array
  /** Counted from 1, blank ones included. */
  lineNumber: number
  /** Whether a request without a model is refused. */
  isModelRequired: boolean
  /** The project's: a provider knows none of them. */
  aliases?: readonly ModelAlias[]
  /** Whether the size of the request is wanted. */
  isSizeNeeded?: boolean
}

export interface BatchLine {
  /** Null when it names none. */
  primaryModel: string | null
  /** With its alternatives. */
  models: string[]
  references: StoredObjectReference[]
  /** Null when it is not looked for. */
  size: RequestSize | null
}

/** What some readers take for the end of a line: it could hide requests. Control characters cannot stand in JSON strings anyway. */
const OTHER_ENDS = /[\r\u0085\u2028\u2029]/
/** The first byte of a byte order mark, which decoding leaves out; no JSON begins with it. */
const MARK = 0xef

/** Null for a blank line. Throws a 400 that names the line when it is not one request in the documented form. */
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
    const { url, body } = readLine(bytes[0] === MARK ? '' : text)
    const alias = rejectAlias(body.model, aliases)
    if (alias) throw alias
    return {
      primaryModel: typeof body.model === 'string' ? body.model : null,
      models: modelsOf(body, isModelRequired),
      references: referencesOf(body),
      size: isSizeNeeded ? requestSizeOfBody(ENDPOINTS.get(url) ?? url, body, bytes.length) : null,
    }
  } catch (error) {
    throw error instanceof ProxyError
      ? invalidRequestError(`Line ${lineNumber} of the file: ${error.message}`, 'file')
      : error
  }
}

/** The provider gets the names as they are written; null for another name. */
export function rejectAlias(model: unknown, aliases: readonly ModelAlias[], param?: string): ProxyError | null {
  const alias = aliases.find(({ name }) => name === model)
  if (!alias) return null
  return invalidRequestError(
    `${alias.name} is an alias, which a batch cannot name: write ${alias.model}, which it stands for.`,
    param,
  )
}

function readLine(text: string): { url: string; body: JsonObject } {
  if (OTHER_ENDS.test(text.replace(/\r$/, ''))) {
    throw invalidRequestError(
      'it holds an end of line other than LF or CRLF; inside of strings, escape it (\\r, \\u2028).',
    )
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

function modelsOf(body: JsonObject, mustNameModels: boolean): string[] {
  const { model } = body
  if (mustNameModels && typeof model !== 'string') throw invalidRequestError('its body must name a model.')
  return [...(typeof model === 'string' ? [model] : []), ...listAlternativeModels(body)]
}

/** The provider receives the lines unchanged, so items count as references, too. */
function referencesOf(body: JsonObject): StoredObjectReference[] {
  return findStoredObjectReferences(body, null).map(found => ({
    ...found,
    kind: found.kind === 'file' ? 'file' : 'other',
  }))
}
