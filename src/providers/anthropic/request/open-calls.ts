/** Tracks the calls of a conversation that still lack their results. */
import { invalidRequest } from '../../../errors/errors.ts'
import { readText } from '../../../formats/json/read-fields.ts'
import type { Call } from './assistant-message.ts'
import { createToolIds } from './tool-ids.ts'

export interface OpenCalls {
  /** Adds a call; returns the id under which it is sent. */
  open(call: Call, param: string): string
  /** Returns the sent id of the call that a `tool` message answers; throws a 400 when there is none. */
  close(clientId: unknown, param: string): string
  /** The same for a legacy `function` message, which has only a name. */
  closeByName(name: unknown, param: string): string
  /** Throws OpenAI's own 400 when a result is missing. */
  checkAllClosed(): void
  /** Names of all called functions. */
  readonly names: ReadonlySet<string>
}

interface OpenCall {
  clientId: string
  name: string
  id: string
  param: string
}

export function createOpenCalls(): OpenCalls {
  const assignId = createToolIds()
  const names = new Set<string>()
  let waiting: OpenCall[] = []

  function take(matches: (call: OpenCall) => boolean, param: string): string {
    const found = waiting.find(matches)
    if (!found) throw invalidRequest(`${param} answers no call of the assistant message before it.`, param)
    waiting = waiting.filter(call => call !== found)
    return found.id
  }

  return {
    names,
    open({ clientId, name }, param) {
      const id = assignId(clientId)
      names.add(name)
      waiting.push({ clientId, name, id, param })
      return id
    },
    close(value, param) {
      const clientId = readText(value, `${param}.tool_call_id`)
      return take(call => call.clientId === clientId, `${param}.tool_call_id`)
    },
    closeByName(value, param) {
      const name = readText(value, `${param}.name`)
      return take(call => call.name === name, `${param}.name`)
    },
    checkAllClosed() {
      const [missing] = waiting
      if (!missing) return
      throw invalidRequest(
        `${missing.param} calls functions, and must be followed by a tool message with the result of each call.`,
        missing.param,
      )
    },
  }
}
