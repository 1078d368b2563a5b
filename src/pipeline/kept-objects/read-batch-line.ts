/** Reads one request of a batch: the models that it names, and what of it a provider keeps. */
import { invalidRequest } from '../../errors.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../../json/json-object.ts'
import { findKeptReferences, type KeptReference, MAY_REFER } from '../../openai-format/kept-references.ts'

export interface BatchLineInput {
  bytes: Uint8Array
  /** From one on. */
  number: number
  looksForModels: boolean
}

export interface BatchLine {
  /** Empty where they are not looked for. */
  models: string[]
  references: KeptReference[]
}

const decoder = new TextDecoder()
/** Letters that need not be escaped, behind which a name may stand; or ids of items that need not say what they are. */
const LOOKED_INTO = /\\u00[2-7]|"id"\s*:/

/** Null for a blank one. Throws a 400 where models are looked for, and it names none. */
export function readBatchLine({ bytes, number, looksForModels }: BatchLineInput): BatchLine | null {
  if (bytes.every(byte => byte <= 32)) return null
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

/** A line that is no JSON is the provider's to refuse. */
function referencesOf(line: string): KeptReference[] {
  if (!MAY_REFER.test(line) && !LOOKED_INTO.test(line)) return []
  const body = parseJsonObject(line)?.body
  if (!isJsonObject(body)) return []
  // The provider reads them as they are.
  return findKeptReferences(body, null).map(found => ({ ...found, kind: found.kind === 'file' ? 'file' : 'other' }))
}
