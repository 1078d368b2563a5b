/** Reads, restores and removes the provider extras of an assistant message with tool calls (a turn). */
import {
  asObjects,
  canonicalizeBody,
  isJsonObject,
  type JsonObject,
  parseJsonObject,
  sha256,
} from '../json/canonical.ts'
import { extrasOfCall, extrasOfMessage, isEmptyValue } from './provider-extras.ts'
import { readToolCallFragment } from './tool-calls.ts'

export interface TurnExtras {
  /** Extras of the message. */
  fields: JsonObject
  /** All its calls, in order. */
  calls: CallExtras[]
}

interface CallExtras extends Pick<DescribedCall, 'id' | 'called'> {
  extras: JsonObject
}

/** Whether the message is a turn. */
export function isToolTurn(message: unknown): message is JsonObject {
  return isJsonObject(message) && message.role === 'assistant' && asObjects(message.tool_calls).length > 0
}

export function extrasOfTurn(message: JsonObject): TurnExtras {
  const calls = asObjects(message.tool_calls).map((call): CallExtras => {
    const { id, called } = describeCall(call)
    return { id, called, extras: extrasOfCall(call) }
  })
  return { fields: extrasOfMessage(message), calls }
}

export function hasTurnExtras({ fields, calls }: TurnExtras): boolean {
  return Object.keys(fields).length > 0 || calls.some(({ extras }) => Object.keys(extras).length > 0)
}

/** Returns the hash of a turn's extras, whatever the order of its calls. */
export function digestOf({ fields, calls }: TurnExtras): string {
  return sha256(JSON.stringify([writeCanonical(fields), calls.map(call => writeCanonical({ ...call })).sort()]))
}

export interface DescribedCall {
  id: string
  name: string
  /** Hash of the function and its arguments. */
  called: string
}

export function describeCall(call: JsonObject): DescribedCall {
  const { id, name, text } = readToolCallFragment(call)
  return { id, name, called: sha256(JSON.stringify([name, normalizeArguments(text)])) }
}

/** Clients may parse the arguments and write them again. */
function normalizeArguments(text: string): string {
  const parsed = text.trim() === '' ? {} : parseJsonObject(text)
  return parsed ? writeCanonical(parsed) : text.trim()
}

const NO_FIELDS: ReadonlySet<string> = new Set()

export function writeCanonical(object: JsonObject): string {
  return canonicalizeBody(object, NO_FIELDS)
}

/** Returns the turn with the extras that it lacks. Those that the client sent stay. */
export function restoreExtras(message: JsonObject, { fields, calls }: TurnExtras): JsonObject {
  const remaining = [...calls]
  function take(fits: (call: CallExtras) => boolean): CallExtras | undefined {
    const at = remaining.findIndex(fits)
    return at < 0 ? undefined : remaining.splice(at, 1)[0]
  }
  const given = asObjects(message.tool_calls)
  const described = given.map(describeCall)
  const found = described.map(({ id, called }) => take(call => call.id === id && call.called === called))
  const restored = given.map((call, at) => {
    // The proxy or the client may have replaced the id.
    const { extras = {} } = found[at] ?? take(({ called }) => called === described[at]?.called) ?? {}
    return addMissing(call, extras)
  })
  return { ...addMissing(message, fields), tool_calls: restored }
}

function addMissing(object: JsonObject, extras: JsonObject): JsonObject {
  const missing = Object.entries(extras).flatMap(([name, value]): [string, unknown][] => {
    const given = object[name]
    if (isEmptyValue(given)) return [[name, value]]
    return name === 'function' && isJsonObject(given) && isJsonObject(value) ? [[name, addMissing(given, value)]] : []
  })
  return { ...object, ...Object.fromEntries(missing) }
}

/** Returns the message without these extras. */
export function removeExtras(message: JsonObject, { fields, calls }: TurnExtras): JsonObject {
  const extras = calls.map(call => call.extras)
  const ofCalls = new Set(extras.flatMap(Object.keys).filter(name => name !== 'function'))
  const ofFunctions = new Set(extras.flatMap(each => (isJsonObject(each.function) ? Object.keys(each.function) : [])))
  const { tool_calls: given, ...rest } = omitFields(message, new Set(Object.keys(fields)))
  if (!Array.isArray(given)) return rest
  const kept = asObjects(given).map(call => {
    const called = omitFields(call, ofCalls)
    return isJsonObject(called.function) ? { ...called, function: omitFields(called.function, ofFunctions) } : called
  })
  return { ...rest, tool_calls: kept }
}

function omitFields(object: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.has(name)))
}
