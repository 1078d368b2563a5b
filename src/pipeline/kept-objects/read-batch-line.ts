/** Reads one request of a batch, strictly: the provider gets the file as it is, and must find the same requests in it. */
import { invalidRequest, ProxyError } from '../../errors/errors.ts'
import {
  decodeUtf8,
  hasDuplicateKeys,
  isJsonObject,
  type JsonObject,
  parseJsonObject,
} from '../../formats/json/canonical.ts'
import { findKeptReferences, type KeptReference } from '../../formats/kept-references.ts'
import { checkJsonSize } from '../../formats/large-bodies/read-large-body.ts'
import type { Alias } from '../../providers/aliases.ts'
import type { Endpoint } from '../../providers/upstream.ts'
import { alternativesOf } from '../parse-request.ts'
import { sizeOfBody } from '../spending/max-cost.ts'
import type { RequestSize } from '../spending/max-tokens.ts'

export interface BatchLineInput {
  bytes: Uint8Array
  /** Counted from 1, blank ones included. */
  number: number
  /** Whether a request without a model is refused. */
  mustNameModels: boolean
  /** The project's: a provider knows none of them. */
  aliases?: readonly Alias[]
  /** Whether the size of the request is wanted. */
  looksForSize?: boolean
}

export interface BatchLine {
  /** Null when it names none. */
  asked: string | null
  /** With its alternatives. */
  models: string[]
  references: KeptReference[]
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
  number,
  mustNameModels,
  aliases = [],
  looksForSize = false,
}: BatchLineInput): BatchLine | null {
  try {
    checkJsonSize(bytes)
    const text = decodeUtf8(bytes)
    if (/^[ \t\r]*$/.test(text)) return null
    const { url, body } = readLine(bytes[0] === MARK ? '' : text)
    const alias = refuseAlias(body.model, aliases)
    if (alias) throw alias
    return {
      asked: typeof body.model === 'string' ? body.model : null,
      models: modelsOf(body, mustNameModels),
      references: referencesOf(body),
      size: looksForSize ? sizeOfBody(ENDPOINTS.get(url) ?? url, body, bytes.length) : null,
    }
  } catch (error) {
    throw error instanceof ProxyError ? invalidRequest(`Line ${number} of the file: ${error.message}`, 'file') : error
  }
}

/** The provider gets the names as they are written; null for another name. */
export function refuseAlias(model: unknown, aliases: readonly Alias[], param?: string): ProxyError | null {
  const alias = aliases.find(({ name }) => name === model)
  if (!alias) return null
  return invalidRequest(
    `${alias.name} is an alias, which a batch cannot name: write ${alias.model}, which it stands for.`,
    param,
  )
}

function readLine(text: string): { url: string; body: JsonObject } {
  if (OTHER_ENDS.test(text.replace(/\r$/, ''))) {
    throw invalidRequest('it holds an end of line other than LF or CRLF; inside of strings, escape it (\\r, \\u2028).')
  }
  const line = parseJsonObject(text)
  if (!line) throw invalidRequest('it must be one JSON object, in UTF-8, and nothing else.')
  if (hasDuplicateKeys(text, line)) throw invalidRequest('it has the same key twice in one object; keep one of them.')
  const { custom_id: id, method, url, body } = line
  if (typeof id !== 'string' || method !== 'POST' || typeof url !== 'string' || !isJsonObject(body)) {
    throw invalidRequest('it must have custom_id, "method": "POST", url and body, an object.')
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
  if (mustNameModels && typeof model !== 'string') throw invalidRequest('its body must name a model.')
  return [...(typeof model === 'string' ? [model] : []), ...alternativesOf(body)]
}

/** The provider receives the lines unchanged, so items count as references, too. */
function referencesOf(body: JsonObject): KeptReference[] {
  return findKeptReferences(body, null).map(found => ({ ...found, kind: found.kind === 'file' ? 'file' : 'other' }))
}
