/** Tracks the tool calls of a conversation whose results have not come yet, and gives calls the ids that Anthropic accepts. */
import { invalidRequestError } from '../../../errors/errors.ts'
import { sha256 } from '../../../formats/json/canonical.ts'
import { readString } from '../../../formats/json/read-fields.ts'
import type { ClientToolCall } from './assistant-message.ts'

const VALID_ID = /^[a-zA-Z0-9_-]{1,128}$/

interface OpenCall {
  clientId: string
  name: string
  id: string
  param: string
}

export class PendingToolCalls {
  /** Names of all called functions. */
  readonly names = new Set<string>()
  readonly #ids = new Set<string>()
  #waiting: OpenCall[] = []

  /** Adds a call. Returns the id that is sent to Anthropic. */
  add({ clientId, name }: ClientToolCall, param: string): string {
    const id = this.#assignId(clientId)
    this.names.add(name)
    this.#waiting.push({ clientId, name, id, param })
    return id
  }

  /** Returns the sent id of the call whose result is in a `tool` message. Throws a 400 when there is none. */
  resolve(value: unknown, param: string): string {
    const clientId = readString(value, `${param}.tool_call_id`)
    return this.#resolveCall(call => call.clientId === clientId, `${param}.tool_call_id`)
  }

  /** Does the same for a legacy `function` message, which has a name but no id. */
  resolveByName(value: unknown, param: string): string {
    const name = readString(value, `${param}.name`)
    return this.#resolveCall(call => call.name === name, `${param}.name`)
  }

  /** Throws a 400, as OpenAI does, when a result is missing. */
  checkAllResolved(): void {
    const [missing] = this.#waiting
    if (!missing) return
    throw invalidRequestError(
      `${missing.param} calls functions, and must be followed by a tool message with the result of each call.`,
      missing.param,
    )
  }

  #resolveCall(matches: (call: OpenCall) => boolean, param: string): string {
    const found = this.#waiting.find(matches)
    if (!found) throw invalidRequestError(`${param} matches no call of the assistant message before it.`, param)
    this.#waiting = this.#waiting.filter(call => call !== found)
    return found.id
  }

  /** Returns a unique id of letters, digits, `_` and `-`. Clients may send calls of other vendors, whose ids have other formats or repeat. */
  #assignId(clientId: string): string {
    const preferred = VALID_ID.test(clientId) ? clientId : `call_${sha256(clientId).slice(0, 32)}`
    let id = preferred
    for (let suffix = 2; this.#ids.has(id); suffix++) id = `${preferred}_${suffix}`
    this.#ids.add(id)
    return id
  }
}
