/** Translates tools and the tool choice to chat, which has neither namespaces nor tools with free text as input. */

import { asObjects, type JsonObject, parseJsonObject } from '../json/canonical.ts'
import {
  pickPresent,
  readArray,
  readEnum,
  readNonEmptyString,
  readObject,
  readOptional,
  readString,
} from '../json/read-fields.ts'
import { setSourcePath } from '../source-paths.ts'
import { createUntranslatableError } from './response-fields.ts'

const CHOICE_MODES = ['none', 'auto', 'required'] as const

/** Translates the tools and the tool choice. Throws a 400 for hosted tools. */
export function translateTools(body: JsonObject): JsonObject {
  const given = readArray(readOptional(body, 'tools') ?? [], 'tools')
  const tools = given.flatMap((tool, index) => translateTool(tool, `tools[${index}]`))
  const choice = readOptional(body, 'tool_choice')
  if (tools.length === 0) {
    // Chat completions reject both fields without tools, and clients of Responses send them by default.
    return choice === undefined || choice === 'auto' || choice === 'none'
      ? {}
      : { tool_choice: translateChoice(choice) }
  }
  return {
    tools,
    ...(choice === undefined ? {} : { tool_choice: translateChoice(choice) }),
    ...pickPresent(body, ['parallel_tool_calls']),
  }
}

/** Translates a tool. Returns an empty list for an omitted tool. */
function translateTool(value: unknown, param: string, namespace = ''): JsonObject[] {
  // An omitted tool is undefined.
  if (value === undefined) return []
  const tool = readObject(value, param)
  if (tool.type === 'custom') return [setSourcePath(writeFunction(describeCustomTool(tool, param), namespace), param)]
  if (tool.type === 'function') return [setSourcePath(writeFunction(describeFunction(tool, param), namespace), param)]
  if (tool.type === 'namespace' && namespace === '') {
    const name = readNonEmptyString(tool.name, `${param}.name`)
    return readArray(tool.tools, `${param}.tools`).flatMap((item, index) => {
      return translateTool(item, `${param}.tools[${index}]`, name)
    })
  }
  // This tool searches only pages that OpenAI has stored. Agents offer it by default, and work without it.
  if (tool.type === 'web_search' && tool.external_web_access === false) return []
  throw createUntranslatableError(
    `${param}.type`,
    'only functions and custom tools can be translated. If tool_choice is auto, hosted tools are omitted, unless the project’s setting unsupported_tools forbids it; clients can also turn such tools off (Codex: web_search = "disabled").',
  )
}

function describeFunction({ name, description, parameters, strict }: JsonObject, param: string) {
  return {
    name: readNonEmptyString(name, `${param}.name`),
    ...(typeof description === 'string' ? { description } : {}),
    ...(parameters === undefined || parameters === null ? {} : { parameters }),
    ...(typeof strict === 'boolean' ? { strict } : {}),
  }
}

function writeFunction(described: { name: string }, namespace: string): JsonObject {
  return { type: 'function', function: { ...described, name: chatToolNameOf({ name: described.name, namespace }) } }
}

function translateChoice(choice: unknown): unknown {
  if (typeof choice === 'string') return readEnum(choice, 'tool_choice', CHOICE_MODES)
  const chosen = readObject(choice, 'tool_choice')
  if (chosen.type !== 'allowed_tools') return nameFunction(chosen, 'tool_choice')
  const mode = readEnum(chosen.mode, 'tool_choice.mode', ['auto', 'required'])
  const tools = readArray(chosen.tools, 'tool_choice.tools').map((item, index) => {
    const param = `tool_choice.tools[${index}]`
    return nameFunction(readObject(item, param), param)
  })
  return { type: 'allowed_tools', allowed_tools: { mode, tools } }
}

function nameFunction(tool: JsonObject, param: string): JsonObject {
  if (tool.type !== 'function' && tool.type !== 'custom') {
    throw createUntranslatableError(`${param}.type`, 'only functions and custom tools can be chosen.')
  }
  const name = readNonEmptyString(tool.name, `${param}.name`)
  return { type: 'function', function: { name: chatToolNameOf({ name, namespace: readNamespace(tool, param) }) } }
}

/** Returns '' for a tool, or a call, without a namespace. */
export function readNamespace(tool: JsonObject, param: string): string {
  const namespace = readOptional(tool, 'namespace')
  return namespace === undefined ? '' : readString(namespace, `${param}.namespace`)
}

/** A tool as the client defined it. */
export interface ClientDefinedTool {
  name: string
  /** '' for a tool without a namespace. */
  namespace: string
  /** True for a tool with free text as input. The model sees it as a function with one text argument. */
  isCustom: boolean
}

/** Maximum length of a tool's name. Providers reject longer names. */
const MAX_NAME_CHARS = 64

/** Returns the name with its namespace as a prefix. If the result is too long, a hash replaces its end. */
export function chatToolNameOf({ name, namespace }: Pick<ClientDefinedTool, 'name' | 'namespace'>): string {
  const joined = namespace === '' ? name : `${namespace}__${name}`
  if (namespace === '' || joined.length <= MAX_NAME_CHARS) return joined
  return `${joined.slice(0, MAX_NAME_CHARS - 9)}_${Bun.SHA256.hash(joined, 'hex').slice(0, 8)}`
}

/** Returns the client's tools by their names in chat, without hosted tools. */
export function indexToolsByChatName({ tools }: JsonObject): ReadonlyMap<string, ClientDefinedTool> {
  const clientTools = readTools(tools, '')
  return new Map(clientTools.map(tool => [chatToolNameOf(tool), tool]))
}

function readTools(tools: unknown, namespace: string): ClientDefinedTool[] {
  return asObjects(tools).flatMap(({ type, name, tools: inner }): ClientDefinedTool[] => {
    if (typeof name !== 'string') return []
    if (type === 'namespace' && namespace === '') return readTools(inner, name)
    return type === 'function' || type === 'custom' ? [{ name, namespace, isCustom: type === 'custom' }] : []
  })
}

/** Describes a custom tool as a chat function. Its grammar goes into the description, because providers cannot enforce it. */
export function describeCustomTool(tool: JsonObject, param: string) {
  const description = readOptional(tool, 'description')
  const paragraphs = [
    description === undefined ? '' : readString(description, `${param}.description`),
    describeFormat(tool, param),
  ]
  return {
    name: readNonEmptyString(tool.name, `${param}.name`),
    description: paragraphs.filter(text => text !== '').join('\n\n'),
    parameters: {
      type: 'object',
      properties: { input: { type: 'string', description: 'The text that the tool takes.' } },
      required: ['input'],
      additionalProperties: false,
    },
  }
}

function describeFormat(tool: JsonObject, param: string): string {
  const given = readOptional(tool, 'format')
  if (given === undefined) return ''
  const format = readObject(given, `${param}.format`)
  if (format.type !== 'grammar') return ''
  const syntax = readString(format.syntax, `${param}.format.syntax`)
  const definition = readString(format.definition, `${param}.format.definition`)
  return `The input must match this ${syntax} grammar:\n${definition}`
}

/** Wraps a custom tool's input as the function's arguments. */
export function wrapToolInput(input: string): string {
  return JSON.stringify({ input })
}

/** Reverses `wrapToolInput`. Returns arguments in any other form unchanged. */
export function unwrapToolInput(text: string): string {
  const input = parseJsonObject(text)?.input
  return typeof input === 'string' ? input : text
}
