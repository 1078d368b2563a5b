/** Reads one request of a batch: its models, and references to objects that a provider keeps. */
import { invalidRequest } from '../../errors.ts'
import { findKeptReferences, type KeptReference, MAY_REFER } from '../../formats/kept-references.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../../json/json-object.ts'
import { measureJson } from '../../large-bodies/json-size.ts'

export interface BatchLineInput {
  bytes: Uint8Array
  /** Counted from 1. */
  number: number
  looksForModels: boolean
}

export interface BatchLine {
  /** Empty when they are not looked for. */
  models: string[]
  references: KeptReference[]
}

const decoder = new TextDecoder()
/** Escaped letters that could hide a field's name, or ids of items whose type is optional. Such lines are parsed. */
const LOOKED_INTO = /\\u00[2-7]|"id"\s*:/

/** Null for a blank line. Throws a 400 when models are looked for and the line names none. */
export function readBatchLine({ bytes, number, looksForModels }: BatchLineInput): BatchLine | null {
  if (bytes.every(byte => byte <= 32)) return null
  measureJson(bytes)
  const text = decoder.decode(bytes)
  return { models: looksForModels ? modelsOf(text, number) : [], references: referencesOf(text) }
}

function modelsOf(line: string, number: number): string[] {
  const body = parseJsonObject(line)?.body
  const model = isJsonObject(body) ? body.model : undefined
  if (typeof model !== 'string')
    throw invalidRequest(`Request ${number} of the batch must have a body that names a model.`, 'file')
  const { models } = body as JsonObject
  return [model, ...(Array.isArray(models) ? models.filter(other => typeof other === 'string') : [])]
}

/** A line that is not JSON is left for the provider to refuse. */
function referencesOf(line: string): KeptReference[] {
  if (!MAY_REFER.test(line) && !LOOKED_INTO.test(line)) return []
  const body = parseJsonObject(line)?.body
  if (!isJsonObject(body)) return []
  // The provider receives the lines unchanged, so items count as references, too.
  return findKeptReferences(body, null).map(found => ({ ...found, kind: found.kind === 'file' ? 'file' : 'other' }))
}
