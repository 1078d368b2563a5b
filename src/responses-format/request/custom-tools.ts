/** Translates custom tools, which take free text, to functions with one text argument, which every provider supports. */

import type { JsonObject } from '../../json/json-object.ts'
import { parseJsonObject } from '../../json/json-object.ts'
import { readGiven, readObject, readText } from '../../json/read-fields.ts'

/** Describes a custom tool as a chat function. Its grammar goes into the description: providers cannot enforce it. */
export function describeCustomTool(tool: JsonObject, param: string) {
  const description = readGiven(tool, 'description')
  const paragraphs = [
    description === undefined ? '' : readText(description, `${param}.description`),
    describeFormat(tool, param),
  ]
  return {
    name: readText(tool.name, `${param}.name`),
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
  const given = readGiven(tool, 'format')
  if (given === undefined) return ''
  const format = readObject(given, `${param}.format`)
  if (format.type !== 'grammar') return ''
  const syntax = readText(format.syntax, `${param}.format.syntax`)
  const definition = readText(format.definition, `${param}.format.definition`)
  return `The input must match this ${syntax} grammar:\n${definition}`
}

/** Wraps a custom tool's input as the function's arguments. */
export function wrapInput(input: string): string {
  return JSON.stringify({ input })
}

/** Reverses `wrapInput`. Arguments in any other form are returned as they are. */
export function unwrapInput(text: string): string {
  const input = parseJsonObject(text)?.input
  return typeof input === 'string' ? input : text
}
