/** Puts what a Responses request refers to in place of its references: earlier responses that are kept here, and their items. */

import { asObjects, isJsonObject, type JsonObject, parseJsonObject, sha256 } from '../json/canonical.ts'
import { parseLosslessJson } from '../json/lossless-json.ts'
import { hasNoContent } from '../stored-object-references.ts'
import {
  findCallsWithoutReasoning,
  findItemReferences,
  type ItemReference,
  isProxyResponseId,
  type PreviousItem,
} from './item-references.ts'

const BASE_CHARS = 44

export interface PreviousResponse {
  id: string
  /** JSON list of its request's own input items; null when they were too long to be kept. */
  input: string | null
  /** JSON. */
  response: string
}

/** The items of a request's `input`, which may be one text. */
function inputItems(input: unknown): unknown[] {
  if (Array.isArray(input)) return input
  if (typeof input !== 'string') return []
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
}

/** JSON list of a request's own items. */
export function serializeInputItems(input: unknown): string {
  return JSON.stringify(inputItems(input).filter(isJsonObject))
}

/** The request's own items under ids, which those without one are given. */
export function listInputItems(response: PreviousResponse): JsonObject[] {
  const base = baseOf(response.id)
  return inputOf(response).map((item, index) => ({ id: `msg_${base}i${index.toString(16).padStart(4, '0')}`, ...item }))
}

/** The same as they were sent. */
function inputOf({ input }: PreviousResponse): JsonObject[] {
  return input === null ? [] : (parseLosslessJson(input) as JsonObject[])
}

/** What the ids of a response's input items hold. */
function baseOf(id: string): string {
  return isProxyResponseId(id) ? id.slice('resp_'.length) : sha256(id).slice(0, BASE_CHARS)
}

/** Empty when the response is not of the form that was kept. */
function outputOf({ response }: PreviousResponse): JsonObject[] {
  return asObjects(parseJsonObject(response)?.output)
}

/** What a response is kept as. */
export interface StoredResponseDetails {
  id: string
  /** Names under which its items are found, where their ids do not say it: see `ItemReference`. */
  itemIds: string[]
  /** Whether its provider still makes it, in the background. */
  isUnfinished: boolean
  /** Whether its request wanted it stored. */
  isStored: boolean
}

const BEING_MADE: ReadonlySet<unknown> = new Set(['queued', 'in_progress'])

/** Null for what is no response. */
export function readStoredResponse(response: string): StoredResponseDetails | null {
  const read = parseJsonObject(response)
  if (!read || typeof read.id !== 'string' || !Array.isArray(read.output)) return null
  const { id, status, store } = read
  const own = asObjects(read.output).flatMap(item => (typeof item.id === 'string' ? [item.id] : []))
  const itemIds = isProxyResponseId(id) ? [] : [...new Set([...own, `resp_${baseOf(id)}`])]
  return { id, itemIds, isUnfinished: BEING_MADE.has(status), isStored: store !== false }
}

export interface ResolvedInput {
  /** The items that come first. */
  previousItems: JsonObject[]
  /** The request's own items, whole. */
  ownItems: unknown[]
  /** The first item that no kept response holds, and that cannot be left out. */
  missingReference: ItemReference | null
  /** What kept responses have made: nobody else's. */
  createdIds: string[]
}

/** What is left as it is where it is not kept: all, for a provider that may have made it itself; ids that are not the proxy's own; nothing. */
export type UnresolvedReferencePolicy = 'all' | 'foreign' | 'nothing'

/** `turns` are the responses that `previous_response_id` leads back to, the first one first; `named` those that items belong to. */
export function resolveInputReferences(
  body: JsonObject,
  {
    previousTurns,
    referencedResponses,
    unresolvedPolicy,
  }: Pick<RequestToResolve, 'previousTurns' | 'referencedResponses' | 'unresolvedPolicy'>,
): ResolvedInput {
  const isLeft = ({ isProxyId }: ItemReference) =>
    unresolvedPolicy === 'all' || (unresolvedPolicy === 'foreign' && !isProxyId)
  const outputs = new Map([...previousTurns, ...referencedResponses].map(one => [one.id, outputOf(one)]))
  const made = [...outputs.values()].flat().flatMap(({ id, container_id }) => [id, container_id].filter(isText))
  const known = new Map(referencedResponses.flatMap(one => listWhole(one, outputs.get(one.id) ?? [])))
  const references = new Map(findItemReferences(body).map(reference => [reference.index, reference]))
  const unknown = [...references.values()].filter(reference => !known.has(reference.id) && !isLeft(reference))
  const leftOut = new Set(unknown.filter(({ canOmit }) => canOmit).map(({ index }) => index))
  const thoughts =
    unresolvedPolicy === 'all'
      ? new Map<number, JsonObject[]>()
      : findThoughts(findCallsWithoutReasoning(body), referencedResponses, outputs)
  const own = inputItems(body.input).flatMap((item, index) => {
    if (leftOut.has(index)) return []
    return [...(thoughts.get(index) ?? []), known.get(references.get(index)?.id) ?? item]
  })
  return {
    previousItems: previousTurns.flatMap(turn => [...inputOf(turn).filter(isWhole), ...(outputs.get(turn.id) ?? [])]),
    ownItems: own,
    missingReference: unknown.find(({ canOmit }) => !canOmit) ?? null,
    createdIds: made,
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** The reasoning before calls, by their positions: once for each response. */
function findThoughts(
  calls: readonly PreviousItem[],
  named: readonly PreviousResponse[],
  outputs: ReadonlyMap<string, JsonObject[]>,
): Map<number, JsonObject[]> {
  const found = new Map<number, JsonObject[]>()
  const told = new Set<string>()
  for (const { index, id: callId } of calls) {
    const response = named.find(({ id }) => outputs.get(id)?.some(item => item.id === callId))
    if (!response || told.has(response.id)) continue
    told.add(response.id)
    const output = outputs.get(response.id) ?? []
    // What a translated answer carried may have come last.
    const before = isProxyResponseId(response.id)
      ? output
      : output.slice(
          0,
          output.findIndex(({ id }) => id === callId),
        )
    found.set(
      index,
      before.filter(({ type }) => type === 'reasoning'),
    )
  }
  return found
}

/** Reasoning alone may have come without its content, and stayed so. */
function isWhole(item: JsonObject): boolean {
  return item.type !== 'reasoning' || !hasNoContent(item)
}

/** The items of a response and its input, by the ids under which they are listed. */
function listWhole(response: PreviousResponse, output: JsonObject[]): [unknown, JsonObject][] {
  const own = inputOf(response)
  const listed = listInputItems(response).map(({ id }, index): [unknown, JsonObject] => [id, own[index] ?? {}])
  return [...listed, ...output.map((item): [unknown, JsonObject] => [item.id, item])]
}

export interface RequestToResolve {
  bytes: Uint8Array
  previousTurns: readonly PreviousResponse[]
  referencedResponses: readonly PreviousResponse[]
  unresolvedPolicy: UnresolvedReferencePolicy
}

export interface ResolvedRequest extends Pick<ResolvedInput, 'missingReference' | 'createdIds'> {
  bytes: Uint8Array
  /** JSON list of the request's own items. */
  ownInput: string
}

/** Writes the request anew with all that it refers to: a provider would look for the response's id among its own. */
export function resolveRequestReferences({ bytes, ...found }: RequestToResolve): ResolvedRequest {
  const { previous_response_id: previous, ...body } = parseLosslessJson(new TextDecoder().decode(bytes)) as JsonObject
  const { previousItems, ownItems, missingReference, createdIds } = resolveInputReferences(body, found)
  const isLeft = previous !== undefined && found.previousTurns.length === 0
  const whole = { ...body, input: [...previousItems, ...ownItems], ...(isLeft && { previous_response_id: previous }) }
  return {
    bytes: new TextEncoder().encode(JSON.stringify(whole)),
    ownInput: serializeInputItems(ownItems),
    missingReference,
    createdIds,
  }
}
