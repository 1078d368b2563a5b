/** The functions that a chat request offers, as `tools` or as the older `functions`, and those of them that the sandbox calls. */
import { invalidRequest } from '../../errors/errors.ts'
import { isJsonObject, type JsonObject, textOf } from '../../formats/json/canonical.ts'
import { readChoice, readGiven, readList, readObject, readText } from '../../formats/json/read-fields.ts'
import type { Request } from './fields.ts'
import { resultsAtEnd, textOfMessage } from './messages.ts'

export interface OfferedFunction {
  name: string
  /** JSON Schema of the arguments. */
  parameters: unknown
  /** The schema's position in the request. */
  param: string
}

export interface Calls {
  /** How the response contains them: `tool_calls`, or the older single `function_call`. */
  style: 'tools' | 'functions'
  functions: OfferedFunction[]
}

const MOST_FUNCTIONS = 128
const NAME = /^[a-zA-Z0-9_-]{1,64}$/
/** With `parallel_tool_calls: true`, the sandbox calls all offered tools at once, up to this many. */
const MOST_PARALLEL_CALLS = 4

/**
 * Returns the functions to call. None when the request offers none or forbids calls, or leaves the choice and does not end with a
 * question. Throws a 400 for malformed tools and for a chosen tool that is not offered.
 */
export function chooseCalls(request: Request, messages: JsonObject[]): Calls {
  const tools = readTools(request)
  const isParallel = readGiven(request, 'parallel_tool_calls') ?? false
  if (typeof isParallel !== 'boolean')
    throw invalidRequest('parallel_tool_calls must be true or false.', 'parallel_tool_calls')
  const isQuestion = messages.at(-1)?.role === 'user' && resultsAtEnd(messages).length === 0
  const asked = isQuestion ? textOfMessage(messages.at(-1)) : null
  if (tools.length > 0) return { style: 'tools', functions: chooseTools(request, tools, asked, isParallel) }
  if (!['auto', 'none'].includes(textOf(readGiven(request, 'tool_choice') ?? 'auto'))) {
    throw invalidRequest("Invalid value for 'tool_choice': it is only allowed when 'tools' are given.", 'tool_choice')
  }
  const functions = readOffered(request, 'functions').map((offered, index) =>
    readFunction(offered, `functions[${index}]`),
  )
  return { style: 'functions', functions: chooseFunction(request, functions, asked) }
}

function readTools(request: Request): OfferedFunction[] {
  return readOffered(request, 'tools').map((given, index) => {
    const place = `tools[${index}]`
    const tool = readObject(given, place)
    readChoice(tool.type, `${place}.type`, ['function'])
    return readFunction(tool.function, `${place}.function`)
  })
}

function readOffered(request: Request, field: string): unknown[] {
  const list = readList(readGiven(request, field) ?? [], field)
  if (list.length <= MOST_FUNCTIONS) return list
  throw invalidRequest(`Invalid '${field}': at most ${MOST_FUNCTIONS} are allowed.`, field)
}

function readFunction(offered: unknown, place: string): OfferedFunction {
  const { name: given, description, parameters } = readObject(offered, place)
  const name = readText(given, `${place}.name`)
  if (!NAME.test(name))
    throw invalidRequest(`Invalid '${place}.name': expected up to 64 letters, digits, '_' and '-'.`, `${place}.name`)
  readText(description ?? '', `${place}.description`)
  const param = `${place}.parameters`
  return { name, parameters: readObject(parameters ?? {}, param), param }
}

/** `asked` is the user's question, null if the conversation does not end with one. */
function chooseTools(
  request: Request,
  tools: OfferedFunction[],
  asked: string | null,
  isParallel: boolean,
): OfferedFunction[] {
  const choice = readGiven(request, 'tool_choice') ?? 'auto'
  if (!isJsonObject(choice)) {
    const word = readChoice(choice, 'tool_choice', ['none', 'auto', 'required'])
    return word === 'none' ? [] : pick(tools, asked, word, isParallel)
  }
  const type = readChoice(choice.type, 'tool_choice.type', ['function', 'allowed_tools'])
  if (type === 'function') return [named(tools, choice.function, 'tool_choice')]
  const param = 'tool_choice.allowed_tools'
  const allowed = readObject(choice.allowed_tools, param)
  const mode = readChoice(allowed.mode, `${param}.mode`, ['auto', 'required'])
  const chosen = readList(allowed.tools, `${param}.tools`).map(tool =>
    named(tools, isJsonObject(tool) ? tool.function : undefined, param),
  )
  return pick(chosen, asked, mode, isParallel)
}

function chooseFunction(request: Request, functions: OfferedFunction[], asked: string | null): OfferedFunction[] {
  const choice = readGiven(request, 'function_call') ?? 'auto'
  if (isJsonObject(choice)) return [named(functions, choice, 'function_call')]
  const word = readChoice(choice, 'function_call', ['none', 'auto'])
  return word === 'none' ? [] : pick(functions, asked, word, false)
}

/** The function that the question names, else the first; several only when parallel calls are allowed. */
function pick(
  offered: OfferedFunction[],
  asked: string | null,
  mode: 'auto' | 'required',
  isParallel: boolean,
): OfferedFunction[] {
  if (mode === 'auto' && asked === null) return []
  if (isParallel) return offered.slice(0, MOST_PARALLEL_CALLS)
  const mentioned = offered.find(({ name }) => asked?.includes(name))
  return [mentioned ?? offered[0]].filter(one => one !== undefined)
}

function named(offered: OfferedFunction[], chosen: unknown, param: string): OfferedFunction {
  const found = isJsonObject(chosen) ? offered.find(({ name }) => name === chosen.name) : undefined
  if (found !== undefined) return found
  throw invalidRequest(`Invalid value for '${param}': it does not name one of the functions offered.`, param)
}
