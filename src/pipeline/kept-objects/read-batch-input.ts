/** Looks through the file of a batch: how many requests it holds, and for which models where the project narrows them. */
import { invalidRequest } from '../../errors.ts'
import { createYieldTurn } from '../../event-loop/yield.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../../json/json-object.ts'
import type { Form } from '../../multipart/read-form.ts'

export interface BatchInput {
  requests: number
  /** Null where they were not looked at. */
  models: string[] | null
}

const LINE_FEED = 10
const decoder = new TextDecoder()

/** Throws a 400 where models are looked for, and a line names none. */
export async function readBatchInput({ bytes, parts }: Form, looksForModels: boolean): Promise<BatchInput> {
  const yieldTurn = createYieldTurn()
  const models = new Set<string>()
  let requests = 0
  for (const { start, end } of parts.filter(({ name, isFile }) => isFile && name === 'file')) {
    for (let at = start; at < end; ) {
      const next = bytes.indexOf(LINE_FEED, at)
      const lineEnd = next < 0 || next > end ? end : next
      const line = bytes.subarray(at, lineEnd)
      if (!isBlank(line)) {
        requests++
        if (looksForModels) for (const model of modelsOf(line, requests)) models.add(model)
      }
      at = lineEnd + 1
      await yieldTurn()
    }
  }
  return { requests, models: looksForModels ? [...models] : null }
}

function modelsOf(line: Uint8Array, request: number): string[] {
  const body = parseJsonObject(decoder.decode(line))?.body
  const model = isJsonObject(body) ? body.model : undefined
  if (typeof model !== 'string')
    throw invalidRequest(`Request ${request} of the batch must have a body that names a model.`, 'file')
  const { models } = body as JsonObject
  return [model, ...(Array.isArray(models) ? models.filter(other => typeof other === 'string') : [])]
}

function isBlank(line: Uint8Array): boolean {
  return line.every(byte => byte <= 32)
}
