/** A chat response's content without calls: marked text, or JSON in the requested form. */
import { type JsonObject, textOf } from '../../formats/json/canonical.ts'
import { readChoice, readGiven, readObject, readText } from '../../formats/json/read-fields.ts'
import type { Request } from './fields.ts'
import { resultsAtEnd, textOfMessage } from './messages.ts'
import { quote } from './request-digest.ts'
import { writeInstance } from './schema-instance.ts'

/** Begins every text of the sandbox, so that none looks like a model's. */
export const SANDBOX_MARK = '[sandbox]'

/** The content of a choice, by its index among `count`. Throws a 400 for a malformed `response_format`, and a schema without instance. */
export function contentWriter(
  request: Request,
  messages: JsonObject[],
  digest: string,
): (index: number, count: number) => string {
  const json = writeJson(request, digest)
  const last = describeLast(messages)
  return (index, count) => {
    if (json !== undefined) return json
    const which = count > 1 ? ` (choice ${index + 1} of ${count})` : ''
    const origin = `a built-in test answer${which}, no model was asked; request ${digest.slice(0, 8)}`
    return `${SANDBOX_MARK} This is ${origin}, model ${quote(textOf(request.model))}. ${last}`
  }
}

/** Undefined where text is wanted. */
function writeJson(request: Request, digest: string): string | undefined {
  const format = readObject(readGiven(request, 'response_format') ?? { type: 'text' }, 'response_format')
  const type = readChoice(format.type, 'response_format.type', ['text', 'json_object', 'json_schema'])
  if (type === 'text') return undefined
  if (type === 'json_object') return JSON.stringify({ sandbox: true, answer: `${SANDBOX_MARK} ${digest.slice(0, 8)}` })
  const param = 'response_format.json_schema'
  const wanted = readObject(format.json_schema, param)
  readText(wanted.name, `${param}.name`)
  return writeInstance(wanted.schema ?? {}, `${param}.schema`)
}

function describeLast(messages: JsonObject[]): string {
  const last = messages.at(-1)
  const results = resultsAtEnd(messages)
  const reads = `The last message reads ${quote(textOfMessage(last))}.`
  if (results.length === 0) return reads
  const what = results.length === 1 ? 'the result of the tool call' : `the results of ${results.length} tool calls`
  const received = `Received ${what}: ${quote(textOfMessage(results.at(-1)))}.`
  return results.at(-1) === last || textOfMessage(last) === '' ? received : `${received} ${reads}`
}
