/** Signatures that bind a thinking block to its model and to everything before it. */
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from './scenario.ts'

interface Turn {
  role: string
  content: JsonObject[]
}

/** `turns` contains everything before the thinking block. Earlier blocks of its own turn are the last turn. */
export function signReasoning(request: JsonObject, turns: readonly Turn[], thinking: string): string {
  const { model, system = [], tools = [] } = request
  const bound = JSON.stringify([model, system, tools, turns, thinking], (key, value) =>
    key === 'cache_control' ? undefined : value,
  )
  return `sig_${Bun.SHA256.hash(bound, 'hex').slice(0, 40)}`
}

/** Returns the place of the first thinking block with an invalid signature; null if all are valid. */
export function findForgedReasoning(request: JsonObject): string | null {
  const turns = request.messages as Turn[]
  for (const [at, turn] of turns.entries()) {
    for (const [position, block] of turn.content.entries()) {
      if (block.type !== 'thinking') continue
      const own = turn.content.slice(0, position)
      const before = own.length === 0 ? turns.slice(0, at) : [...turns.slice(0, at), { ...turn, content: own }]
      const signature = signReasoning(request, before, String(block.thinking))
      if (!isDeepStrictEqual(signature, block.signature)) return `messages.${at}.content.${position}`
    }
  }
  return null
}
