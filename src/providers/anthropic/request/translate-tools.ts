/** Translates functions into Anthropic's tools. */
import type { Tool } from '@anthropic-ai/sdk/resources/messages'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import {
  readArray,
  readNonEmptyString,
  readObject,
  readOptional,
  readString,
} from '../../../formats/json/read-fields.ts'
import { adaptSchema } from './adapt-schema.ts'
import { readCacheBreakpoint } from './cache-breakpoints.ts'
import { unsupportedFieldError } from './check-fields.ts'

const NO_PARAMETERS = { type: 'object', properties: {} }

/** Translates `tools` and the legacy `functions`. */
export function translateTools(body: JsonObject): Tool[] {
  const tools = readArray(readOptional(body, 'tools') ?? [], 'tools')
  const functions = readArray(readOptional(body, 'functions') ?? [], 'functions')
  return [
    ...tools.map((tool, index) => translateTool(tool, `tools[${index}]`)),
    ...functions.map((fn, index) => translateFunction(fn, `functions[${index}]`)),
  ]
}

/** Declares functions that the conversation calls but the request no longer declares. Anthropic requires a declaration. */
export function declareCalledTools(names: ReadonlySet<string>): Tool[] {
  return Array.from(names, name => ({ name, input_schema: { type: 'object' } }))
}

function translateTool(value: unknown, param: string): Tool {
  const tool = readObject(value, param)
  if (isNative(tool)) return tool as unknown as Tool
  if (tool.type === 'custom') throw unsupportedFieldError('tools[].custom', param)
  return { ...translateFunction(tool.function, `${param}.function`), ...readCacheBreakpoint(tool, param) }
}

/** Returns whether the tool has Anthropic's format: a server tool with its own type, or a tool with an `input_schema`. */
function isNative({ type, input_schema }: JsonObject): boolean {
  return input_schema !== undefined || (typeof type === 'string' && type !== 'function' && type !== 'custom')
}

function translateFunction(value: unknown, param: string): Tool {
  const fn = readObject(value, param)
  const description = readOptional(fn, 'description')
  const parameters = readObject(readOptional(fn, 'parameters') ?? NO_PARAMETERS, `${param}.parameters`)
  const schema = fn.strict === true ? adaptSchema(parameters, `${param}.parameters`) : parameters
  return {
    name: readNonEmptyString(fn.name, `${param}.name`),
    ...(description === undefined ? {} : { description: readString(description, `${param}.description`) }),
    input_schema: schema as Tool.InputSchema,
    ...(fn.strict === true ? { strict: true } : {}),
    ...readCacheBreakpoint(fn, param),
  }
}
