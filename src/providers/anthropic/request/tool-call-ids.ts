/** Ids of tool calls in Anthropic's format: unique, of letters, digits, `_` and `-`. */
import { sha256 } from '../../../formats/json/canonical.ts'

const VALID_ID = /^[a-zA-Z0-9_-]{1,128}$/

/** Returns the id under which a call is sent. Clients may send calls from other vendors, whose ids look different or restart in each response. */
export function createToolIdAssigner(): (clientId: string) => string {
  const used = new Set<string>()
  return clientId => {
    const wanted = VALID_ID.test(clientId) ? clientId : `call_${sha256(clientId).slice(0, 32)}`
    let id = wanted
    for (let turn = 2; used.has(id); turn++) id = `${wanted}_${turn}`
    used.add(id)
    return id
  }
}
