/** Ids of tool calls in Anthropic's format: unique, of letters, digits, `_` and `-`. */

const VALID_ID = /^[a-zA-Z0-9_-]{1,128}$/

export interface ToolIds {
  /** Returns the id under which a call is sent. */
  assign(clientId: string): string
}

/** Clients may send calls from other vendors, whose ids look different or restart in each response. */
export function createToolIds(): ToolIds {
  const used = new Set<string>()
  return {
    assign(clientId) {
      const wanted = VALID_ID.test(clientId) ? clientId : `call_${Bun.SHA256.hash(clientId, 'hex').slice(0, 32)}`
      let id = wanted
      for (let turn = 2; used.has(id); turn++) id = `${wanted}_${turn}`
      used.add(id)
      return id
    },
  }
}
