/** Translates tools and the tool choice to chat's. */

import type { JsonObject } from '../../json/json-object.ts'
import { readChoice, readGiven, readList, readObject, readText } from '../../json/read-fields.ts'
import { notTranslated } from './check-fields.ts'
import { describeCustomTool } from './custom-tools.ts'
import { chatNameOf } from './tool-names.ts'

const WORDS = ['none', 'auto', 'required'] as const

/** Throws a 400 for tools that the provider would have to run itself. */
export function translateTools(body: JsonObject): JsonObject {
  const given = readGiven(body, 'tools')
  const tools =
    given === undefined ? [] : readList(given, 'tools').flatMap((tool, index) => translateTool(tool, `tools[${index}]`))
  const choice = readGiven(body, 'tool_choice')
  const parallel = readGiven(body, 'parallel_tool_calls')
  if (tools.length === 0) {
    // Chat refuses both fields without tools, and clients of Responses send them by default.
    return choice === undefined || choice === 'auto' || choice === 'none'
      ? {}
      : { tool_choice: translateChoice(choice) }
  }
  return {
    tools,
    ...(choice === undefined ? {} : { tool_choice: translateChoice(choice) }),
    ...(parallel === undefined ? {} : { parallel_tool_calls: parallel }),
  }
}

/** Returns an empty list for a search that the model can do without. */
function translateTool(value: unknown, param: string, namespace = ''): JsonObject[] {
  const tool = readObject(value, param)
  if (tool.type === 'custom') return [writeFunction(describeCustomTool(tool, param), namespace)]
  if (tool.type === 'function') return [writeFunction(describeFunction(tool, param), namespace)]
  if (tool.type === 'namespace' && namespace === '') {
    const name = readText(tool.name, `${param}.name`)
    return readList(tool.tools, `${param}.tools`).flatMap((item, index) => {
      return translateTool(item, `${param}.tools[${index}]`, name)
    })
  }
  // A search in OpenAI's stored pages only. Agents offer it by default, and work without it.
  if (tool.type === 'web_search' && tool.external_web_access === false) return []
  throw notTranslated(`${param}.type`, 'only functions and custom tools can be translated.')
}

function describeFunction({ name, description, parameters, strict }: JsonObject, param: string) {
  return {
    name: readText(name, `${param}.name`),
    ...(typeof description === 'string' ? { description } : {}),
    ...(parameters === undefined || parameters === null ? {} : { parameters }),
    ...(typeof strict === 'boolean' ? { strict } : {}),
  }
}

function writeFunction(described: { name: string }, namespace: string): JsonObject {
  return { type: 'function', function: { ...described, name: chatNameOf({ name: described.name, namespace }) } }
}

function translateChoice(choice: unknown): unknown {
  if (typeof choice === 'string') return readChoice(choice, 'tool_choice', WORDS)
  const chosen = readObject(choice, 'tool_choice')
  if (chosen.type !== 'allowed_tools') return nameFunction(chosen, 'tool_choice')
  const mode = readChoice(chosen.mode, 'tool_choice.mode', ['auto', 'required'])
  const tools = readList(chosen.tools, 'tool_choice.tools').map((item, index) => {
    const param = `tool_choice.tools[${index}]`
    return nameFunction(readObject(item, param), param)
  })
  return { type: 'allowed_tools', allowed_tools: { mode, tools } }
}

function nameFunction(tool: JsonObject, param: string): JsonObject {
  if (tool.type !== 'function' && tool.type !== 'custom') {
    throw notTranslated(`${param}.type`, 'only functions and custom tools can be chosen.')
  }
  const name = readText(tool.name, `${param}.name`)
  return { type: 'function', function: { name: chatNameOf({ name, namespace: readNamespace(tool, param) }) } }
}

/** Returns '' for a tool, or a call, without a namespace. */
export function readNamespace(tool: JsonObject, param: string): string {
  const namespace = readGiven(tool, 'namespace')
  return namespace === undefined ? '' : readText(namespace, `${param}.namespace`)
}
