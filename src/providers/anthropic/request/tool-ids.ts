/** Ids of tool calls as Anthropic takes them: unique, of letters, digits, `_` and `-`. */

const VALID_ID = /^[a-zA-Z0-9_-]{1,128}$/

export interface ToolIds {
  /** The id under which a call is sent. */
  assign(clientId: string): string
}

/** Clients may bring calls of another vendor's, whose ids look otherwise or begin anew in each answer. */
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
