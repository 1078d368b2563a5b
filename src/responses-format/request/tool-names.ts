/** What the tools of a Responses request are called in chat, which knows neither namespaces nor custom tools. */

import { isJsonObject, type JsonObject } from '../../json/json-object.ts'

/** A tool as the client knows it. */
export interface OwnTool {
  name: string
  /** '' for a tool in none. */
  namespace: string
  /** It takes any text, and is offered to the model as a function of one. */
  isCustom: boolean
}

/** No provider takes longer ones. */
const LONGEST_NAME = 64

/** The namespace in front, where there is one; a long name ends in a hash of itself. */
export function chatNameOf({ name, namespace }: Pick<OwnTool, 'name' | 'namespace'>): string {
  const joined = namespace === '' ? name : `${namespace}__${name}`
  if (namespace === '' || joined.length <= LONGEST_NAME) return joined
  return `${joined.slice(0, LONGEST_NAME - 9)}_${Bun.SHA256.hash(joined, 'hex').slice(0, 8)}`
}

/** The tools by their names in chat. Whatever is no tool of the client's is left out. */
export function toolsByChatName({ tools }: JsonObject): ReadonlyMap<string, OwnTool> {
  const own = readTools(tools, '')
  return new Map(own.map(tool => [chatNameOf(tool), tool]))
}

function readTools(tools: unknown, namespace: string): OwnTool[] {
  if (!Array.isArray(tools)) return []
  return tools.filter(isJsonObject).flatMap(({ type, name, tools: inner }): OwnTool[] => {
    if (typeof name !== 'string') return []
    if (type === 'namespace' && namespace === '') return readTools(inner, name)
    return type === 'function' || type === 'custom' ? [{ name, namespace, isCustom: type === 'custom' }] : []
  })
}
