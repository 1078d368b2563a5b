/** Reads the functions of a chat request, in `tools` or the older `functions`, and chooses those that the sandbox calls. */
import { invalidRequestError } from '../../errors/errors.ts'
import { asString, isJsonObject, type JsonObject } from '../../formats/json/canonical.ts'
import { readArray, readEnum, readObject, readOptional, readString } from '../../formats/json/read-fields.ts'
import type { SandboxRequest } from './fields.ts'
import { textOfMessage, trailingToolResults } from './messages.ts'

export interface FunctionDefinition {
  name: string
  /** The JSON Schema of the arguments. */
  parameters: unknown
  /** The schema's position in the request. */
  param: string
}

export interface ToolCallSelection {
  /** The form of the calls in the response: `tool_calls`, or the older single `function_call`. */
  style: 'tools' | 'functions'
  functions: FunctionDefinition[]
}

const MAX_FUNCTIONS = 128
const NAME = /^[a-zA-Z0-9_-]{1,64}$/
/** With `parallel_tool_calls: true`, the sandbox calls all tools of the request at once, up to this many. */
const MAX_PARALLEL_CALLS = 4

/**
 * Returns the functions to call. There are none when the request has no functions or forbids calls, or when it leaves the choice to the model
 * and does not end with a user message. Throws a 400 for invalid tools, and for a chosen tool that the request does not have.
 */
export function chooseToolCalls(request: SandboxRequest, messages: JsonObject[]): ToolCallSelection {
  const tools = readTools(request)
  const isParallel = readOptional(request, 'parallel_tool_calls') ?? false
  if (typeof isParallel !== 'boolean')
    throw invalidRequestError('parallel_tool_calls must be true or false.', 'parallel_tool_calls')
  const isQuestion = messages.at(-1)?.role === 'user' && trailingToolResults(messages).length === 0
  const question = isQuestion ? textOfMessage(messages.at(-1)) : null
  if (tools.length > 0) return { style: 'tools', functions: chooseTools(request, tools, question, isParallel) }
  if (!['auto', 'none'].includes(asString(readOptional(request, 'tool_choice') ?? 'auto'))) {
    throw invalidRequestError(
      "Invalid value for 'tool_choice': it is only allowed when 'tools' are given.",
      'tool_choice',
    )
  }
  const functions = readFunctionList(request, 'functions').map((offered, index) =>
    readFunction(offered, `functions[${index}]`),
  )
  return { style: 'functions', functions: chooseFunction(request, functions, question) }
}

function readTools(request: SandboxRequest): FunctionDefinition[] {
  return readFunctionList(request, 'tools').map((given, index) => {
    const place = `tools[${index}]`
    const tool = readObject(given, place)
    readEnum(tool.type, `${place}.type`, ['function'])
    return readFunction(tool.function, `${place}.function`)
  })
}

function readFunctionList(request: SandboxRequest, field: string): unknown[] {
  const list = readArray(readOptional(request, field) ?? [], field)
  if (list.length <= MAX_FUNCTIONS) return list
  throw invalidRequestError(`Invalid '${field}': at most ${MAX_FUNCTIONS} are allowed.`, field)
}

function readFunction(offered: unknown, place: string): FunctionDefinition {
  const { name: given, description, parameters } = readObject(offered, place)
  const name = readString(given, `${place}.name`)
  if (!NAME.test(name))
    throw invalidRequestError(
      `Invalid '${place}.name': expected up to 64 letters, digits, '_' and '-'.`,
      `${place}.name`,
    )
  readString(description ?? '', `${place}.description`)
  const param = `${place}.parameters`
  return { name, parameters: readObject(parameters ?? {}, param), param }
}

/** `question` is the text of the last user message; null when the conversation does not end with one. */
function chooseTools(
  request: SandboxRequest,
  tools: FunctionDefinition[],
  question: string | null,
  isParallel: boolean,
): FunctionDefinition[] {
  const choice = readOptional(request, 'tool_choice') ?? 'auto'
  if (!isJsonObject(choice)) {
    const word = readEnum(choice, 'tool_choice', ['none', 'auto', 'required'])
    return word === 'none' ? [] : pickFunctions(tools, question, word, isParallel)
  }
  const type = readEnum(choice.type, 'tool_choice.type', ['function', 'allowed_tools'])
  if (type === 'function') return [findFunction(tools, choice.function, 'tool_choice')]
  const param = 'tool_choice.allowed_tools'
  const allowed = readObject(choice.allowed_tools, param)
  const mode = readEnum(allowed.mode, `${param}.mode`, ['auto', 'required'])
  const chosen = readArray(allowed.tools, `${param}.tools`).map(tool =>
    findFunction(tools, isJsonObject(tool) ? tool.function : undefined, param),
  )
  return pickFunctions(chosen, question, mode, isParallel)
}

function chooseFunction(
  request: SandboxRequest,
  functions: FunctionDefinition[],
  question: string | null,
): FunctionDefinition[] {
  const choice = readOptional(request, 'function_call') ?? 'auto'
  if (isJsonObject(choice)) return [findFunction(functions, choice, 'function_call')]
  const word = readEnum(choice, 'function_call', ['none', 'auto'])
  return word === 'none' ? [] : pickFunctions(functions, question, word, false)
}

/** Returns the function that the question names, or else the first; several only when parallel calls are allowed. */
function pickFunctions(
  offered: FunctionDefinition[],
  question: string | null,
  mode: 'auto' | 'required',
  isParallel: boolean,
): FunctionDefinition[] {
  if (mode === 'auto' && question === null) return []
  if (isParallel) return offered.slice(0, MAX_PARALLEL_CALLS)
  const mentioned = offered.find(({ name }) => question?.includes(name))
  return [mentioned ?? offered[0]].filter(one => one !== undefined)
}

function findFunction(offered: FunctionDefinition[], chosen: unknown, param: string): FunctionDefinition {
  const found = isJsonObject(chosen) ? offered.find(({ name }) => name === chosen.name) : undefined
  if (found !== undefined) return found
  throw invalidRequestError(`Invalid value for '${param}': it must name one of the request’s functions.`, param)
}
