/** Decides which of a chat request's tools the sandbox calls. */

import { invalidRequest } from '../../errors.ts'
import { isJsonObject, type JsonObject } from '../../json/canonical.ts'
import { type Request, readBoolean, readOptional } from './fields.ts'
import { textOfMessage } from './messages.ts'
import { type OfferedFunction, readFunctions, readTools } from './offered-functions.ts'

export interface Calls {
  /** How the response contains them: `tool_calls`, or the older single `function_call`. */
  style: 'tools' | 'functions'
  functions: OfferedFunction[]
}

/** With `parallel_tool_calls: true`, the sandbox calls all offered tools at once, up to this many. */
const MOST_PARALLEL_CALLS = 4

/**
 * Returns the functions to call. None when the request offers none or forbids calls, or leaves the choice and does not end with a
 * question. Throws a 400 for malformed tools and for a chosen tool that is not offered.
 */
export function chooseCalls(request: Request, messages: JsonObject[]): Calls {
  const tools = readTools(request)
  const isParallel = readBoolean(request, 'parallel_tool_calls') === true
  if (tools.length > 0) return { style: 'tools', functions: chooseTools(request, tools, messages, isParallel) }
  refuseChoiceOfNothing(request)
  const functions = readFunctions(request)
  return { style: 'functions', functions: chooseFunction(request, functions, messages) }
}

function chooseTools(
  request: Request,
  tools: OfferedFunction[],
  messages: JsonObject[],
  isParallel: boolean,
): OfferedFunction[] {
  const choice = readOptional(request, 'tool_choice') ?? 'auto'
  if (choice === 'none') return []
  if (choice === 'auto') return asksSomething(messages) ? pick(tools, messages, isParallel) : []
  if (choice === 'required') return pick(tools, messages, isParallel)
  if (isJsonObject(choice) && choice.type === 'function') return [named(tools, choice.function, 'tool_choice')]
  if (isJsonObject(choice) && choice.type === 'allowed_tools') return chooseAllowed(choice, tools, messages, isParallel)
  throw invalidRequest(
    "Invalid value for 'tool_choice': expected 'none', 'auto', 'required', or an object that names a function.",
    'tool_choice',
  )
}

/** `{"type":"allowed_tools","allowed_tools":{"mode":"auto"|"required","tools":[…]}}` */
function chooseAllowed(
  choice: JsonObject,
  tools: OfferedFunction[],
  messages: JsonObject[],
  isParallel: boolean,
): OfferedFunction[] {
  const allowed = choice.allowed_tools
  if (
    !isJsonObject(allowed) ||
    !Array.isArray(allowed.tools) ||
    (allowed.mode !== 'auto' && allowed.mode !== 'required')
  ) {
    throw invalidRequest("Invalid 'tool_choice.allowed_tools': expected a mode and tools.", 'tool_choice.allowed_tools')
  }
  const param = 'tool_choice.allowed_tools'
  const chosen = allowed.tools.map(tool => named(tools, isJsonObject(tool) ? tool.function : undefined, param))
  const mayCall = chosen.length > 0 && (allowed.mode === 'required' || asksSomething(messages))
  return mayCall ? pick(chosen, messages, isParallel) : []
}

function chooseFunction(request: Request, functions: OfferedFunction[], messages: JsonObject[]): OfferedFunction[] {
  const choice = readOptional(request, 'function_call') ?? 'auto'
  if (choice === 'none') return []
  if (choice === 'auto') return functions.length > 0 && asksSomething(messages) ? pick(functions, messages, false) : []
  if (isJsonObject(choice)) return [named(functions, choice, 'function_call')]
  throw invalidRequest(
    "Invalid value for 'function_call': expected 'none', 'auto', or an object that names a function.",
    'function_call',
  )
}

function refuseChoiceOfNothing(request: Request): void {
  const choice = readOptional(request, 'tool_choice') ?? 'auto'
  if (choice === 'auto' || choice === 'none') return
  throw invalidRequest("Invalid value for 'tool_choice': it is only allowed when 'tools' are given.", 'tool_choice')
}

function asksSomething(messages: JsonObject[]): boolean {
  return messages.at(-1)?.role === 'user'
}

/** The functions that the user's message names, else the first; several only when parallel calls are allowed. */
function pick(offered: OfferedFunction[], messages: JsonObject[], isParallel: boolean): OfferedFunction[] {
  if (isParallel) return offered.slice(0, MOST_PARALLEL_CALLS)
  const asked = textOfMessage(messages.at(-1))
  const mentioned = offered.find(({ name }) => asked.includes(name))
  return [mentioned ?? offered[0]].filter(one => one !== undefined)
}

function named(offered: OfferedFunction[], chosen: unknown, param: string): OfferedFunction {
  const found = isJsonObject(chosen) ? offered.find(({ name }) => name === chosen.name) : undefined
  if (found !== undefined) return found
  throw invalidRequest(`Invalid value for '${param}': it does not name one of the functions offered.`, param)
}
