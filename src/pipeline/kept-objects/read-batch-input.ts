/** Scans a batch's file: how many requests it holds, what kept objects they name, and their models if the project restricts models. */
import { invalidRequest } from '../../errors.ts'
import { createYieldTurn } from '../../event-loop/yield.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../../json/json-object.ts'
import type { Form } from '../../multipart/read-form.ts'
import { findKeptReferences, type KeptReference, MAY_REFER } from '../../openai-format/kept-references.ts'

export interface BatchInput {
  requests: number
  /** Null when they were not read. */
  models: string[] | null
  references: KeptReference[]
}

const LINE_FEED = 10
const decoder = new TextDecoder()
/** Escaped letters that could hide a field's name, or ids of items whose type is optional. Such lines are parsed. */
const LOOKED_INTO = /\\u00[2-7]|"id"\s*:/

/** Throws a 400 when models are read and a line names none. */
export async function readBatchInput({ bytes, parts }: Form, looksForModels: boolean): Promise<BatchInput> {
  const yieldTurn = createYieldTurn()
  const models = new Set<string>()
  const references: KeptReference[] = []
  let requests = 0
  for (const { start, end } of parts.filter(({ name, isFile }) => isFile && name === 'file')) {
    for (let at = start; at < end; ) {
      const next = bytes.indexOf(LINE_FEED, at)
      const lineEnd = next < 0 || next > end ? end : next
      const line = bytes.subarray(at, lineEnd)
      if (!isBlank(line)) {
        requests++
        const text = decoder.decode(line)
        if (looksForModels) for (const model of modelsOf(text, requests)) models.add(model)
        for (const reference of referencesOf(text)) references.push(reference)
      }
      at = lineEnd + 1
      await yieldTurn()
    }
  }
  return { requests, models: looksForModels ? [...models] : null, references }
}

function modelsOf(line: string, request: number): string[] {
  const body = parseJsonObject(line)?.body
  const model = isJsonObject(body) ? body.model : undefined
  if (typeof model !== 'string')
    throw invalidRequest(`Request ${request} of the batch must have a body that names a model.`, 'file')
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

function isBlank(line: Uint8Array): boolean {
  return line.every(byte => byte <= 32)
}
