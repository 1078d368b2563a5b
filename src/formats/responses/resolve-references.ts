/** Replaces the references of a Responses request by the stored previous responses, and the items, to which they refer. */

import { asObjects, isJsonObject, type JsonObject, parseJsonObject, sha256 } from '../json/canonical.ts'
import { parseLosslessJson } from '../json/lossless-json.ts'
import { hasNoContent } from '../stored-object-references.ts'
import {
  findCallsWithoutReasoning,
  findItemReferences,
  type ItemReference,
  isProxyResponseId,
} from './item-references.ts'

const BASE_CHARS = 44

export interface PreviousResponse {
  id: string
  /** The request's own input items as a JSON list; null if they were too long to be stored. */
  input: string | null
  /** The response as JSON. */
  response: string
}

/** Returns the items of a request's `input`, which may be one text. */
export function inputItems(input: unknown): unknown[] {
  if (Array.isArray(input)) return input
  if (typeof input !== 'string') return []
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
}

/** Returns a request's own items as a JSON list. */
export function serializeInputItems(input: unknown): string {
  return JSON.stringify(inputItems(input).filter(isJsonObject))
}

/** Returns the request's own items. Items without an id get one. */
export function listInputItems(response: PreviousResponse): JsonObject[] {
  const base = baseOf(response.id)
  return inputOf(response).map((item, index) => ({ id: `msg_${base}i${index.toString(16).padStart(4, '0')}`, ...item }))
}

/** Returns the request's own items as they were sent. */
function inputOf({ input }: PreviousResponse): JsonObject[] {
  return input === null ? [] : (parseLosslessJson(input) as JsonObject[])
}

/** Returns the part of the response's id that the ids of its input items contain. */
function baseOf(id: string): string {
  return isProxyResponseId(id) ? id.slice('resp_'.length) : sha256(id).slice(0, BASE_CHARS)
}

/** Returns the response's output items; none if its JSON is invalid. */
function outputOf({ response }: PreviousResponse): JsonObject[] {
  return asObjects(parseJsonObject(response)?.output)
}

/** The properties under which a response is stored. */
export interface StoredResponseDetails {
  id: string
  /** Names for finding its items, if their ids do not contain the response's id: see `PreviousItem.lookupNames`. */
  itemIds: string[]
  /** Whether it is a background response in progress. */
  isUnfinished: boolean
  /** Whether its request allows storing it. */
  isStored: boolean
}

const UNFINISHED_STATUSES: ReadonlySet<unknown> = new Set(['queued', 'in_progress'])

/** Reads a response to store; null if it is not a response. */
export function readStoredResponse(response: string): StoredResponseDetails | null {
  const parsed = parseJsonObject(response)
  if (!parsed || typeof parsed.id !== 'string' || !Array.isArray(parsed.output)) return null
  const { id, status, store } = parsed
  const outputIds = asObjects(parsed.output).flatMap(item => (typeof item.id === 'string' ? [item.id] : []))
  const itemIds = isProxyResponseId(id) ? [] : [...new Set([...outputIds, `resp_${baseOf(id)}`])]
  return { id, itemIds, isUnfinished: UNFINISHED_STATUSES.has(status), isStored: store !== false }
}

export interface ResolvedInput {
  /** The items of the previous turns, which come first. */
  previousItems: JsonObject[]
  /** The request's own items with their references resolved. */
  ownItems: unknown[]
  /** The first item that no stored response contains and that cannot be omitted; null if there is none. */
  missingReference: ItemReference | null
  /** The ids of items and containers that the stored responses created, which therefore belong to the caller. */
  createdIds: string[]
}

/** References that stay unchanged if nothing is stored for them. `all`: the provider may have the objects. `foreign`: ids that the proxy did not create. */
export type UnresolvedReferencePolicy = 'all' | 'foreign' | 'nothing'

/** Resolves references. `previousTurns` are the chain of `previous_response_id`, oldest first; `referencedResponses` those to which items belong. */
export function resolveInputReferences(
  body: JsonObject,
  {
    previousTurns,
    referencedResponses,
    unresolvedPolicy,
  }: Pick<RequestToResolve, 'previousTurns' | 'referencedResponses' | 'unresolvedPolicy'>,
): ResolvedInput {
  const staysUnresolved = ({ isProxyId }: ItemReference) =>
    unresolvedPolicy === 'all' || (unresolvedPolicy === 'foreign' && !isProxyId)
  const outputs = new Map([...previousTurns, ...referencedResponses].map(response => [response.id, outputOf(response)]))
  const createdIds = [...outputs.values()].flat().flatMap(({ id, container_id }) => [id, container_id].filter(isText))
  const known = new Map(
    referencedResponses.flatMap(response => listItemsById(response, outputs.get(response.id) ?? [])),
  )
  const references = new Map(findItemReferences(body).map(reference => [reference.index, reference]))
  const unknown = [...references.values()].filter(reference => !known.has(reference.id) && !staysUnresolved(reference))
  const omitted = new Set(unknown.filter(({ canOmit }) => canOmit).map(({ index }) => index))
  const reasoning =
    unresolvedPolicy === 'all' ? new Map<number, JsonObject[]>() : findReasoning(body, referencedResponses, outputs)
  const ownItems = inputItems(body.input).flatMap((item, index) => {
    if (omitted.has(index)) return []
    return [...(reasoning.get(index) ?? []), known.get(references.get(index)?.id) ?? item]
  })
  return {
    previousItems: previousTurns.flatMap(turn => [
      ...inputOf(turn).filter(hasItsContent),
      ...(outputs.get(turn.id) ?? []),
    ]),
    ownItems,
    missingReference: unknown.find(({ canOmit }) => !canOmit) ?? null,
    createdIds,
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Finds the reasoning that calls lack, by the positions of the calls. The reasoning of a response is added only once. */
function findReasoning(
  body: JsonObject,
  responses: readonly PreviousResponse[],
  outputs: ReadonlyMap<string, JsonObject[]>,
): Map<number, JsonObject[]> {
  const found = new Map<number, JsonObject[]>()
  const added = new Set<string>()
  // The client may have sent the reasoning after its call, in the order of the response.
  const sentIds = new Set(asObjects(body.input).map(({ id }) => id))
  for (const { index, id: callId } of findCallsWithoutReasoning(body)) {
    const response = responses.find(({ id }) => outputs.get(id)?.some(item => item.id === callId))
    if (!response || added.has(response.id)) continue
    added.add(response.id)
    const output = outputs.get(response.id) ?? []
    // The extras of a translated response may be its last item.
    const before = isProxyResponseId(response.id)
      ? output
      : output.slice(
          0,
          output.findIndex(({ id }) => id === callId),
        )
    found.set(
      index,
      before.filter(({ type, id }) => type === 'reasoning' && !sentIds.has(id)),
    )
  }
  return found
}

/** Whether an item has its content. Only reasoning may lack it. */
function hasItsContent(item: JsonObject): boolean {
  return item.type !== 'reasoning' || !hasNoContent(item)
}

/** Returns the items of a response and its input by the ids under which they are listed. */
function listItemsById(response: PreviousResponse, output: JsonObject[]): [unknown, JsonObject][] {
  const input = inputOf(response)
  const listed = listInputItems(response).map(({ id }, index): [unknown, JsonObject] => [id, input[index] ?? {}])
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
  /** The request's own items as a JSON list. */
  ownInput: string
}

/** Rewrites a request with its references resolved, because a provider would not find the ids among its own responses. */
export function resolveRequestReferences({ bytes, ...found }: RequestToResolve): ResolvedRequest {
  const { previous_response_id: previous, ...body } = parseLosslessJson(new TextDecoder().decode(bytes)) as JsonObject
  const { previousItems, ownItems, missingReference, createdIds } = resolveInputReferences(body, found)
  const staysUnresolved = previous !== undefined && found.previousTurns.length === 0
  const whole = {
    ...body,
    input: [...previousItems, ...ownItems],
    ...(staysUnresolved && { previous_response_id: previous }),
  }
  return {
    bytes: new TextEncoder().encode(JSON.stringify(whole)),
    ownInput: serializeInputItems(ownItems),
    missingReference,
    createdIds,
  }
}
