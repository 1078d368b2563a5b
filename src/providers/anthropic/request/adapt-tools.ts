/** Gives tools the names and schemas that Anthropic takes, and remembers what they are to the client. */
import type { MessageParam } from '@anthropic-ai/sdk/resources/messages'
import { asString, isJsonObject, type JsonObject, readField } from '../../../formats/json/canonical.ts'
import { tryParseLosslessJson } from '../../../formats/json/lossless-json.ts'
import type { MessagesRequest } from '../messages-request.ts'

const VALID_NAME = /^[a-zA-Z0-9_-]{1,64}$/
/** Of a name that Anthropic refuses: the rest of its 64 characters are a hash, so that no two become one. */
const KEPT_LENGTH = 55
/** Holds a schema that cannot be the whole input: one of no object, or of several alternatives. */
const WRAPPER = 'value'
const DEFINITIONS = ['$defs', 'definitions'] as const
/** A definition may stand for another. */
const MOST_REFERENCES = 16

export interface ClientTool {
  /** As the client knows it. */
  name: string
  /** Its input is the one property of the object that Anthropic is asked for. */
  isWrapped: boolean
}

/** By the name that is sent; only tools that are sent otherwise than they came. */
export type ClientTools = ReadonlyMap<string, ClientTool>

export function adaptTools(request: MessagesRequest): { request: MessagesRequest; clientTools: ClientTools } {
  const clientTools = new Map<string, ClientTool>()
  const tools = request.tools?.map(tool => {
    if (!('input_schema' in tool)) return tool
    const name = fitName(tool.name)
    const { schema, isWrapped } = fitRoot(tool.input_schema)
    if (name !== tool.name || isWrapped) clientTools.set(name, { name: tool.name, isWrapped })
    return { ...tool, name, input_schema: schema as typeof tool.input_schema }
  })
  if (tools === undefined) return { request, clientTools }
  if (clientTools.size === 0) return { request: { ...request, tools }, clientTools }
  const { messages, tool_choice: choice } = request
  const fitted: MessagesRequest = {
    ...request,
    tools,
    messages: messages.map(turn => fitCalls(turn, clientTools)),
    ...(choice?.type === 'tool' ? { tool_choice: { ...choice, name: fitName(choice.name) } } : {}),
  }
  return { request: fitted, clientTools }
}

/** The input of a call as the client's tool takes it. */
export function restoreToolInput(tool: ClientTool | undefined, input: unknown): unknown {
  return tool?.isWrapped && isJsonObject(input) && Object.hasOwn(input, WRAPPER) ? input[WRAPPER] : input
}

/** The same for its JSON text; text that was cut off stays as it is. */
export function restoreToolInputText(tool: ClientTool | undefined, text: string): string {
  const input = tryParseLosslessJson(text)
  return input === undefined ? text : JSON.stringify(restoreToolInput(tool, input))
}

function fitName(name: string): string {
  if (VALID_NAME.test(name)) return name
  const kept = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, KEPT_LENGTH)
  return `${kept}_${Bun.SHA256.hash(name, 'hex').slice(0, 8)}`
}

function fitCalls(turn: MessageParam, clientTools: ClientTools): MessageParam {
  if (turn.role !== 'assistant' || typeof turn.content === 'string') return turn
  const content = turn.content.map(block => {
    if (block.type !== 'tool_use') return block
    const name = fitName(block.name)
    return { ...block, name, input: clientTools.get(name)?.isWrapped ? { [WRAPPER]: block.input } : block.input }
  })
  return { ...turn, content }
}

/** The schema itself where it describes one object. */
function fitRoot(given: object): { schema: object; isWrapped: boolean } {
  const schema = resolveRoot(given as JsonObject)
  const isObject = schema.type === undefined || [schema.type].flat().includes('object')
  const hasAlternatives = schema.anyOf !== undefined || schema.oneOf !== undefined || schema.allOf !== undefined
  if (isObject && !hasAlternatives && schema.$ref === undefined) {
    return { schema: schema.type === 'object' ? schema : { ...schema, type: 'object' }, isWrapped: false }
  }
  const { $defs, definitions, ...inner } = schema
  const wrapped = { type: 'object', properties: { [WRAPPER]: moveReferences(inner) }, required: [WRAPPER] }
  return {
    schema: { ...wrapped, ...moveReferences({ $defs, definitions }), additionalProperties: false },
    isWrapped: true,
  }
}

/** A root that only refers to a definition becomes that definition. */
function resolveRoot(root: JsonObject): JsonObject {
  let schema = root
  for (let turn = 0; turn < MOST_REFERENCES; turn++) {
    const [, folder = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(asString(schema.$ref)) ?? []
    const found = isJsonObject(root[folder])
      ? readField(root[folder], name.replaceAll('~1', '/').replaceAll('~0', '~'))
      : undefined
    if (!isJsonObject(found)) return schema
    const { $ref, ...beside } = schema
    schema = { ...beside, ...found }
  }
  return schema
}

/** References to the root, or into it, follow it into the wrapper; definitions stay at the root. */
function moveReferences<T>(value: T): T {
  if (Array.isArray(value)) return value.map(moveReferences) as T
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).flatMap(([key, item]) => {
    if (item === undefined) return []
    if (key !== '$ref' || typeof item !== 'string' || !isWithinRoot(item)) return [[key, moveReferences(item)]]
    return [[key, `#/properties/${WRAPPER}${item.slice(1)}`]]
  })
  return Object.fromEntries(entries) as T
}

function isWithinRoot(reference: string): boolean {
  return reference.startsWith('#') && !DEFINITIONS.some(folder => reference.startsWith(`#/${folder}/`))
}
