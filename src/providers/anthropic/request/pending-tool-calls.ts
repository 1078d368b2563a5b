/** Tracks the tool calls of a conversation whose results have not come yet, and gives calls the ids that Anthropic accepts. */
import { invalidRequestError } from '../../../errors/errors.ts'
import { sha256 } from '../../../formats/json/canonical.ts'
import { readString } from '../../../formats/json/read-fields.ts'
import type { ClientToolCall } from './assistant-message.ts'

export interface PendingToolCalls {
  /** Adds a call. Returns the id that is sent to Anthropic. */
  add(call: ClientToolCall, param: string): string
  /** Returns the sent id of the call whose result is in a `tool` message. Throws a 400 when there is none. */
  resolve(clientId: unknown, param: string): string
  /** Does the same for a legacy `function` message, which has a name but no id. */
  resolveByName(name: unknown, param: string): string
  /** Throws a 400, as OpenAI does, when a result is missing. */
  checkAllResolved(): void
  /** Names of all called functions. */
  readonly names: ReadonlySet<string>
}

interface OpenCall {
  clientId: string
  name: string
  id: string
  param: string
}

export function createPendingToolCalls(): PendingToolCalls {
  const assignId = createToolIdAssigner()
  const names = new Set<string>()
  let waiting: OpenCall[] = []

  function resolveCall(matches: (call: OpenCall) => boolean, param: string): string {
    const found = waiting.find(matches)
    if (!found) throw invalidRequestError(`${param} matches no call of the assistant message before it.`, param)
    waiting = waiting.filter(call => call !== found)
    return found.id
  }

  return {
    names,
    add({ clientId, name }, param) {
      const id = assignId(clientId)
      names.add(name)
      waiting.push({ clientId, name, id, param })
      return id
    },
    resolve(value, param) {
      const clientId = readString(value, `${param}.tool_call_id`)
      return resolveCall(call => call.clientId === clientId, `${param}.tool_call_id`)
    },
    resolveByName(value, param) {
      const name = readString(value, `${param}.name`)
      return resolveCall(call => call.name === name, `${param}.name`)
    },
    checkAllResolved() {
      const [missing] = waiting
      if (!missing) return
      throw invalidRequestError(
        `${missing.param} calls functions, and must be followed by a tool message with the result of each call.`,
        missing.param,
      )
    },
  }
}

const VALID_ID = /^[a-zA-Z0-9_-]{1,128}$/

/** Returns a function that assigns the id of a call: unique, of letters, digits, `_` and `-`. Clients may send calls of other vendors, whose ids have other formats or repeat. */
function createToolIdAssigner(): (clientId: string) => string {
  const used = new Set<string>()
  return clientId => {
    const preferred = VALID_ID.test(clientId) ? clientId : `call_${sha256(clientId).slice(0, 32)}`
    let id = preferred
    for (let suffix = 2; used.has(id); suffix++) id = `${preferred}_${suffix}`
    used.add(id)
    return id
  }
}
