/** Names a Responses request's tools for chat, which has neither namespaces nor custom tools. */

import { isJsonObject, type JsonObject } from '../../json/json-object.ts'

/** A tool as the client defined it. */
export interface OwnTool {
  name: string
  /** '' for a tool without a namespace. */
  namespace: string
  /** True for a tool that takes free text. The model sees it as a function with one text argument. */
  isCustom: boolean
}

/** Providers refuse longer names. */
const LONGEST_NAME = 64

/** Puts the namespace in front of the name. If the result is too long, a hash replaces its end. */
export function chatNameOf({ name, namespace }: Pick<OwnTool, 'name' | 'namespace'>): string {
  const joined = namespace === '' ? name : `${namespace}__${name}`
  if (namespace === '' || joined.length <= LONGEST_NAME) return joined
  return `${joined.slice(0, LONGEST_NAME - 9)}_${Bun.SHA256.hash(joined, 'hex').slice(0, 8)}`
}

/** The client's tools by their names in chat. Hosted tools are left out. */
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
