/** Tools and the choice among them as chat has them. */

import type { JsonObject } from '../../json/json-object.ts'
import { readChoice, readGiven, readList, readObject, readText } from '../../json/read-fields.ts'
import { notTranslated } from './check-fields.ts'
import { describeCustomTool } from './custom-tools.ts'

const WORDS = ['none', 'auto', 'required'] as const

/** Throws a 400 for tools that a provider would have to run itself. */
export function translateTools(body: JsonObject): JsonObject {
  const given = readGiven(body, 'tools')
  const tools = given === undefined ? [] : readList(given, 'tools').map(translateTool)
  const choice = readGiven(body, 'tool_choice')
  const parallel = readGiven(body, 'parallel_tool_calls')
  if (tools.length === 0) {
    // Chat takes neither without tools; here both are common defaults.
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

/** The names of the tools that take any text. */
export function namesOfCustomTools(body: JsonObject): ReadonlySet<string> {
  const tools = Array.isArray(body.tools) ? body.tools : []
  return new Set(tools.filter(tool => tool?.type === 'custom').map(tool => String(tool.name)))
}

function translateTool(value: unknown, index: number): JsonObject {
  const param = `tools[${index}]`
  const tool = readObject(value, param)
  if (tool.type === 'custom') return { type: 'function', function: describeCustomTool(tool, param) }
  if (tool.type !== 'function') {
    throw notTranslated(`${param}.type`, 'only functions and custom tools can be translated.')
  }
  const { name, description, parameters, strict } = tool
  return {
    type: 'function',
    function: {
      name: readText(name, `${param}.name`),
      ...(typeof description === 'string' ? { description } : {}),
      ...(parameters === undefined || parameters === null ? {} : { parameters }),
      ...(typeof strict === 'boolean' ? { strict } : {}),
    },
  }
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
  return { type: 'function', function: { name: readText(tool.name, `${param}.name`) } }
}
