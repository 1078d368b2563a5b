/** A chat response's content without calls: marked text, or JSON in the requested form. */

import { invalidRequest } from '../../errors.ts'
import { isJsonObject, type JsonObject } from '../../json/canonical.ts'
import { type Request, readOptional } from './fields.ts'
import { textOfMessage } from './messages.ts'
import { quote } from './quote.ts'
import { writeSchemaInstance } from './schema/schema-instances.ts'

/** Begins every text of the sandbox, so that none looks like a model's. */
export const SANDBOX_MARK = '[sandbox]'

export interface Occasion {
  request: Request
  messages: JsonObject[]
  digest: string
}

/** Writes a choice's content, by its index among `count` choices. */
export type WriteContent = (index: number, count: number) => string

/** Throws a 400 for a malformed `response_format`, and for a schema without an instance. */
export async function contentWriter(occasion: Occasion): Promise<WriteContent> {
  const json = await writeJsonContent(occasion)
  const content = json ?? describeLast(occasion.messages)
  return (index, count) => json ?? writeText(occasion, content, index, count)
}

async function writeJsonContent({ request, digest }: Occasion): Promise<string | undefined> {
  const format = readOptional(request, 'response_format') ?? { type: 'text' }
  if (!isJsonObject(format)) {
    throw invalidRequest("Invalid type for 'response_format': expected an object.", 'response_format')
  }
  if (format.type === 'text') return undefined
  if (format.type === 'json_object')
    return JSON.stringify({ sandbox: true, answer: `${SANDBOX_MARK} ${digest.slice(0, 8)}` })
  if (format.type === 'json_schema') return writeSchemaContent(format.json_schema)
  throw invalidRequest(
    "Invalid value for 'response_format.type': expected 'text', 'json_object' or 'json_schema'.",
    'response_format.type',
  )
}

async function writeSchemaContent(wanted: unknown): Promise<string> {
  const place = 'response_format.json_schema'
  if (!isJsonObject(wanted)) throw invalidRequest(`Missing required parameter: '${place}'.`, place)
  if (typeof wanted.name !== 'string')
    throw invalidRequest(`Missing required parameter: '${place}.name'.`, `${place}.name`)
  return writeSchemaInstance(wanted.schema ?? {}, `${place}.schema`)
}

function writeText({ request, digest }: Occasion, content: string, index: number, count: number): string {
  const which = count > 1 ? ` (choice ${index + 1} of ${count})` : ''
  const origin = `a built-in test answer${which}, no model was asked; request ${digest.slice(0, 8)}`
  return `${SANDBOX_MARK} This is ${origin}, model ${quote(String(request.model))}. ${content}`
}

function describeLast(messages: JsonObject[]): string {
  const last = messages.at(-1)
  const content = quote(textOfMessage(last))
  if (last?.role !== 'tool' && last?.role !== 'function') return `The last message reads ${content}.`
  const results = messages.length - (messages.findLastIndex(({ role }) => role !== last.role) + 1)
  return `Received ${results === 1 ? 'the result of the tool call' : `the results of ${results} tool calls`}: ${content}.`
}
