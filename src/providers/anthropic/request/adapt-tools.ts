/** Gives tools the names and schemas that Anthropic accepts, and returns a map to restore the client's names and inputs. */
import type { MessageParam } from '@anthropic-ai/sdk/resources/messages'
import { asString, isJsonObject, type JsonObject, readField } from '../../../formats/json/canonical.ts'
import { tryParseLosslessJson } from '../../../formats/json/lossless-json.ts'
import type { MessagesRequest } from '../messages-request.ts'

const VALID_NAME = /^[a-zA-Z0-9_-]{1,64}$/
/** The characters that remain of a name that Anthropic rejects. The rest of the 64 characters are a hash, which keeps names distinct. */
const KEPT_LENGTH = 55
/** The property that contains a schema that cannot be the root of the input: one that describes no object, or several alternatives. */
const WRAPPER = 'value'
const DEFINITIONS = ['$defs', 'definitions'] as const
/** The upper bound on references that are followed: a definition may refer to another one. */
const MAX_REFERENCES = 16

export interface ClientTool {
  /** The tool's name in the client's request. */
  name: string
  /** Whether the tool's input is sent to Anthropic as the property `value` of an object. */
  isWrapped: boolean
}

/** The changed tools by the names that are sent to Anthropic. */
export type ClientTools = ReadonlyMap<string, ClientTool>

export function adaptTools(request: MessagesRequest): { request: MessagesRequest; clientTools: ClientTools } {
  const clientTools = new Map<string, ClientTool>()
  const tools = request.tools?.map(tool => {
    if (!('input_schema' in tool)) return tool
    const name = adaptName(tool.name)
    const { schema, isWrapped } = adaptRoot(tool.input_schema)
    if (name !== tool.name || isWrapped) clientTools.set(name, { name: tool.name, isWrapped })
    return { ...tool, name, input_schema: schema as typeof tool.input_schema }
  })
  if (tools === undefined) return { request, clientTools }
  if (clientTools.size === 0) return { request: { ...request, tools }, clientTools }
  const { messages, tool_choice: choice } = request
  const adapted: MessagesRequest = {
    ...request,
    tools,
    messages: messages.map(turn => adaptCalls(turn, clientTools)),
    ...(choice?.type === 'tool' ? { tool_choice: { ...choice, name: adaptName(choice.name) } } : {}),
  }
  return { request: adapted, clientTools }
}

/** Returns the input of a call in the form of the client's tool. */
export function restoreToolInput(tool: ClientTool | undefined, input: unknown): unknown {
  return tool?.isWrapped && isJsonObject(input) && Object.hasOwn(input, WRAPPER) ? input[WRAPPER] : input
}

/** Does the same for the input's JSON text. Text that was cut off is returned unchanged. */
export function restoreToolInputText(tool: ClientTool | undefined, text: string): string {
  const input = tryParseLosslessJson(text)
  return input === undefined ? text : JSON.stringify(restoreToolInput(tool, input))
}

function adaptName(name: string): string {
  if (VALID_NAME.test(name)) return name
  const kept = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, KEPT_LENGTH)
  return `${kept}_${Bun.SHA256.hash(name, 'hex').slice(0, 8)}`
}

function adaptCalls(turn: MessageParam, clientTools: ClientTools): MessageParam {
  if (turn.role !== 'assistant' || typeof turn.content === 'string') return turn
  const content = turn.content.map(block => {
    if (block.type !== 'tool_use') return block
    const name = adaptName(block.name)
    return { ...block, name, input: clientTools.get(name)?.isWrapped ? { [WRAPPER]: block.input } : block.input }
  })
  return { ...turn, content }
}

/** Returns a schema that describes one object as it is, and wraps any other schema in an object. */
function adaptRoot(root: object): { schema: object; isWrapped: boolean } {
  const schema = resolveRoot(root as JsonObject)
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

/** Replaces a root that refers to a definition with that definition. */
function resolveRoot(root: JsonObject): JsonObject {
  let schema = root
  for (let count = 0; count < MAX_REFERENCES; count++) {
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

/** Rewrites references to the root, or into it, so that they lead into the wrapper. Definitions stay at the root. */
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
