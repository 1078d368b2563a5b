/** Creates the content of a chat response without calls: marked text, or JSON in the requested format. */
import { asString, type JsonObject } from '../../formats/json/canonical.ts'
import { readEnum, readObject, readOptional, readString } from '../../formats/json/read-fields.ts'
import type { SandboxRequest } from './fields.ts'
import { generateInstance } from './generate-instance.ts'
import { textOfMessage, trailingToolResults } from './messages.ts'
import { quoteText } from './response-text.ts'

/** The beginning of every text of the sandbox, so that none looks like a model's. */
export const SANDBOX_PREFIX = '[sandbox]'

/**
 * Returns a function that creates the content of a choice by its index among `count`. Throws a 400 for an invalid `response_format`, or a
 * schema without an instance.
 */
export function createContentWriter(
  request: SandboxRequest,
  messages: JsonObject[],
  digest: string,
): (index: number, count: number) => string {
  const json = writeJson(request, digest)
  const last = describeLast(messages)
  return (index, count) => {
    if (json !== undefined) return json
    const which = count > 1 ? ` (choice ${index + 1} of ${count})` : ''
    const origin = `a built-in test answer${which}, no model was asked; request ${digest.slice(0, 8)}`
    return `${SANDBOX_PREFIX} This is ${origin}, model ${quoteText(asString(request.model))}. ${last}`
  }
}

/** Returns undefined when text is requested. */
function writeJson(request: SandboxRequest, digest: string): string | undefined {
  const format = readObject(readOptional(request, 'response_format') ?? { type: 'text' }, 'response_format')
  const type = readEnum(format.type, 'response_format.type', ['text', 'json_object', 'json_schema'])
  if (type === 'text') return undefined
  if (type === 'json_object')
    return JSON.stringify({ sandbox: true, answer: `${SANDBOX_PREFIX} ${digest.slice(0, 8)}` })
  const param = 'response_format.json_schema'
  const jsonSchema = readObject(format.json_schema, param)
  readString(jsonSchema.name, `${param}.name`)
  return generateInstance(jsonSchema.schema ?? {}, `${param}.schema`)
}

function describeLast(messages: JsonObject[]): string {
  const last = messages.at(-1)
  const results = trailingToolResults(messages)
  const reads = `The last message reads ${quoteText(textOfMessage(last))}.`
  if (results.length === 0) return reads
  const what = results.length === 1 ? 'the result of the tool call' : `the results of ${results.length} tool calls`
  const received = `Received ${what}: ${quoteText(textOfMessage(results.at(-1)))}.`
  return results.at(-1) === last || textOfMessage(last) === '' ? received : `${received} ${reads}`
}
