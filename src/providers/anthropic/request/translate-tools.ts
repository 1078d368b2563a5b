/** Translates functions into Anthropic's tools, and `tool_choice` and `function_call` into its tool choice. */
import type { Tool, ToolChoice } from '@anthropic-ai/sdk/resources/messages'
import { invalidRequestError } from '../../../errors/errors.ts'
import { isJsonObject, type JsonObject } from '../../../formats/json/canonical.ts'
import {
  readArray,
  readEnum,
  readNonEmptyString,
  readObject,
  readOptional,
  readString,
} from '../../../formats/json/read-fields.ts'
import { unsupportedFieldError } from '../field-rules.ts'
import { adaptSchema } from './adapt-schema.ts'
import { readCacheBreakpoint } from './cache-breakpoints.ts'

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

interface ToolSelection {
  tools: Tool[]
  /** The choice; undefined when the model decides and may call several tools at once. */
  choice?: ToolChoice
}

const CHOICE_TYPES = { auto: 'auto', required: 'any', none: 'none' } as const

/** Throws a 400 when the chosen tool is not among the tools. */
export function translateToolChoice(body: JsonObject, tools: Tool[]): ToolSelection {
  const { field, value, isLegacy } = readChoiceField(body)
  if (tools.length === 0) {
    if (value === undefined || value === 'none' || value === 'auto') return { tools }
    throw invalidRequestError(`${field} is only allowed together with tools.`, field)
  }
  const chosen = choose(value ?? 'auto', field, tools, isLegacy)
  // A legacy function_call contains one call only.
  const isSingle = body.parallel_tool_calls === false || isLegacy
  if (chosen.choice.type === 'none') return chosen
  if (isSingle) return { ...chosen, choice: { ...chosen.choice, disable_parallel_tool_use: true } }
  return chosen.choice.type === 'auto' ? { tools: chosen.tools } : chosen
}

/** Returns whether the request uses `functions`, the predecessor of `tools`. */
export function usesLegacyFunctions(body: JsonObject): boolean {
  return readOptional(body, 'functions') !== undefined && readOptional(body, 'tools') === undefined
}

function readChoiceField(body: JsonObject): { field: string; value: unknown; isLegacy: boolean } {
  const isLegacy = usesLegacyFunctions(body)
  const field = isLegacy ? 'function_call' : 'tool_choice'
  return { field, value: readOptional(body, field), isLegacy }
}

function choose(value: unknown, field: string, tools: Tool[], isLegacy: boolean): Required<ToolSelection> {
  if (typeof value === 'string') {
    const word = readEnum(value, field, Object.keys(CHOICE_TYPES) as (keyof typeof CHOICE_TYPES)[])
    return { tools, choice: { type: CHOICE_TYPES[word] } }
  }
  const choice = readObject(value, field)
  if (isLegacy) return { tools, choice: chooseNamed(choice, field, tools) }
  if (choice.type === 'allowed_tools') return chooseAllowed(choice.allowed_tools, `${field}.allowed_tools`, tools)
  if (choice.type === 'custom') throw unsupportedFieldError('tools[].custom', field)
  return { tools, choice: chooseNamed(readObject(choice.function, `${field}.function`), `${field}.function`, tools) }
}

function chooseNamed(named: JsonObject, param: string, tools: Tool[]): ToolChoice {
  const name = readString(named.name, `${param}.name`)
  if (tools.some(tool => tool.name === name)) return { type: 'tool', name }
  throw invalidRequestError(`${param}.name must be the name of one of the request’s tools.`, `${param}.name`)
}

function chooseAllowed(value: unknown, param: string, tools: Tool[]): Required<ToolSelection> {
  const allowed = readObject(value, param)
  const mode = readEnum(allowed.mode, `${param}.mode`, ['auto', 'required'])
  const names = readArray(allowed.tools, `${param}.tools`).map((item, index) => {
    const at = `${param}.tools[${index}]`
    const tool = readObject(item, at)
    const named = isJsonObject(tool.function) ? tool.function : tool
    return chooseNamed(named, at, tools) as ToolChoice & { type: 'tool' }
  })
  const kept = tools.filter(tool => names.some(({ name }) => name === tool.name))
  return { tools: kept, choice: { type: CHOICE_TYPES[mode] } }
}
