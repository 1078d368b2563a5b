/** Assigns ids to tool calls in Anthropic's format: unique, of letters, digits, `_` and `-`. */
import { sha256 } from '../../../formats/json/canonical.ts'

const VALID_ID = /^[a-zA-Z0-9_-]{1,128}$/

/** Returns a function that assigns the id of a call. Clients may send calls of other vendors, whose ids have other formats or repeat. */
export function createToolIdAssigner(): (clientId: string) => string {
  const used = new Set<string>()
  return clientId => {
    const preferred = VALID_ID.test(clientId) ? clientId : `call_${sha256(clientId).slice(0, 32)}`
    let id = preferred
    for (let suffix = 2; used.has(id); suffix++) id = `${preferred}_${suffix}`
    used.add(id)
    return id
  }
}
