/** Translates functions into Anthropic's tools. */
import type { Tool } from '@anthropic-ai/sdk/resources/messages'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { readGiven, readList, readName, readObject, readText } from '../../../formats/json/read-fields.ts'
import { readCacheMark } from './cache-marks.ts'
import { refusal } from './check-fields.ts'
import { fitSchema } from './fit-schema.ts'

const NO_PARAMETERS = { type: 'object', properties: {} }

/** From `tools` and the legacy `functions`. */
export function translateTools(body: JsonObject): Tool[] {
  const tools = readList(readGiven(body, 'tools') ?? [], 'tools')
  const functions = readList(readGiven(body, 'functions') ?? [], 'functions')
  return [
    ...tools.map((tool, index) => translateTool(tool, `tools[${index}]`)),
    ...functions.map((fn, index) => translateFunction(fn, `functions[${index}]`)),
  ]
}

/** Declares functions that the conversation calls but the request no longer offers, because Anthropic requires it. */
export function describeCalledTools(names: ReadonlySet<string>): Tool[] {
  return Array.from(names, name => ({ name, input_schema: { type: 'object' } }))
}

function translateTool(value: unknown, param: string): Tool {
  const tool = readObject(value, param)
  if (isNative(tool)) return tool as unknown as Tool
  if (tool.type === 'custom') throw refusal('tools[].custom', param)
  return { ...translateFunction(tool.function, `${param}.function`), ...readCacheMark(tool, param) }
}

/** Whether the tool is in Anthropic's form: a server tool with its own type, or one with an `input_schema`. */
function isNative({ type, input_schema }: JsonObject): boolean {
  return input_schema !== undefined || (typeof type === 'string' && type !== 'function' && type !== 'custom')
}

function translateFunction(value: unknown, param: string): Tool {
  const fn = readObject(value, param)
  const description = readGiven(fn, 'description')
  const parameters = readObject(readGiven(fn, 'parameters') ?? NO_PARAMETERS, `${param}.parameters`)
  const schema = fn.strict === true ? fitSchema(parameters, `${param}.parameters`) : parameters
  return {
    name: readName(fn.name, `${param}.name`),
    ...(description === undefined ? {} : { description: readText(description, `${param}.description`) }),
    input_schema: schema as Tool.InputSchema,
    ...(fn.strict === true ? { strict: true } : {}),
    ...readCacheMark(fn, param),
  }
}
