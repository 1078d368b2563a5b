/** Translates Anthropic's tools and tool choice to chat's. */

import type { JsonObject } from '../../json/json-object.ts'
import { readChoice, readGiven, readList, readObject, readText } from '../../json/read-fields.ts'
import { notTranslated } from './check-fields.ts'
import type { BlockOptions } from './translate-blocks.ts'

const CHOICES = { auto: 'auto', any: 'required', none: 'none' } as const

export function translateTools(body: JsonObject, options: BlockOptions): JsonObject {
  const tools = readList(readGiven(body, 'tools') ?? [], 'tools').map((tool, index) => {
    return translateTool(tool, `tools[${index}]`, options)
  })
  // Chat refuses a tool choice without tools.
  return tools.length === 0 ? {} : { tools, ...translateChoice(body) }
}

function translateTool(value: unknown, param: string, { keepsCacheMarks }: BlockOptions): JsonObject {
  const tool = readObject(value, param)
  if ((readGiven(tool, 'type') ?? 'custom') !== 'custom') {
    throw notTranslated(`${param}.type`, 'other models know only tools that the request describes.')
  }
  const description = readGiven(tool, 'description')
  const mark = keepsCacheMarks ? readGiven(tool, 'cache_control') : undefined
  return {
    type: 'function',
    function: {
      name: readText(tool.name, `${param}.name`),
      ...(description === undefined ? {} : { description: readText(description, `${param}.description`) }),
      parameters: readObject(tool.input_schema, `${param}.input_schema`),
      ...(tool.strict === true ? { strict: true } : {}),
    },
    ...(mark === undefined ? {} : { cache_control: mark }),
  }
}

function translateChoice(body: JsonObject): JsonObject {
  const given = readGiven(body, 'tool_choice')
  if (given === undefined) return {}
  const choice = readObject(given, 'tool_choice')
  const type = readChoice(choice.type, 'tool_choice.type', ['auto', 'any', 'tool', 'none'])
  const parallel = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {}
  if (type !== 'tool') return { tool_choice: CHOICES[type], ...parallel }
  const name = readText(choice.name, 'tool_choice.name')
  return { tool_choice: { type: 'function', function: { name } }, ...parallel }
}
