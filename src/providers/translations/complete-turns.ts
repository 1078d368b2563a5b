/** Prepares the turns of a chat request for its model, and stores those of its response. Long requests are processed in a worker. */

import type { TurnRule } from '../../config/vendors.ts'
import { WorkerJob } from '../../event-loop/worker-pool.ts'
import { completeTurns, omitAllExtras, type StoredTurn, type TurnTarget } from '../../formats/chat/complete-turns.ts'
import { describeTurn, listToolTurns, type NewTurn, type ToolTurn } from '../../formats/chat/tool-turns.ts'
import { isToolTurn } from '../../formats/chat/turn-extras.ts'
import { asString, type JsonObject } from '../../formats/json/canonical.ts'
import { isLongRequest, type LongRequest, parseLosslessBody, replaceLongBody, runBodyJob } from '../long-body.ts'
import type { UpstreamRequest, UpstreamResponse } from '../upstream.ts'
import { retryIfNamed } from './rejections.ts'

export interface TurnsToComplete {
  turns: readonly ToolTurn[]
  stored: readonly StoredTurn[]
  target: TurnTarget
}

export interface RequestWithoutExtras<Request> {
  request: Request
  /** The names of the extras that were omitted. */
  names: string[]
}

const JOBS = new URL('../jobs.ts', import.meta.url)
const LIST_TURNS = new WorkerJob<{ bytes: Uint8Array }, ToolTurn[]>(JOBS, 'listToolTurnsJob')
const COMPLETE = new WorkerJob<TurnsToComplete & { bytes: Uint8Array }, Uint8Array>(JOBS, 'completeTurnsJob')
const DESCRIBE = new WorkerJob<{ bytes: Uint8Array; message: JsonObject }, NewTurn | null>(JOBS, 'describeTurnJob')
const OMIT_EXTRAS = new WorkerJob<{ bytes: Uint8Array }, RequestWithoutExtras<Uint8Array> | null>(
  JOBS,
  'omitAllExtrasJob',
)

/** Returns the name under which turns of the request's model are stored. */
function creatorOf({ body }: UpstreamRequest, provider: string): string {
  return `${provider}/${asString(body.model)}`
}

/** Returns a chat request with the extras that its client omitted, and with what `rules` require of other models' turns. */
export async function completeRequestTurns(
  request: UpstreamRequest,
  turns: readonly ToolTurn[],
  provider: string,
  rules: readonly TurnRule[],
): Promise<UpstreamRequest> {
  const stored = turns.length > 0 ? ((await request.turns?.find(turns)) ?? []) : []
  const target = { madeBy: creatorOf(request, provider), rules }
  if (rules.length === 0 && stored.every(turn => turn.madeBy === target.madeBy && turn.extras === null)) return request
  const input = { turns, stored, target }
  if (isLongRequest(request)) return replaceLongBody(request, request.body, await runBodyJob(COMPLETE, request, input))
  return replaceMessages(request, messages => completeTurns(messages, turns, stored, target))
}

/** Returns the turns of a client's chat request. */
export async function listRequestTurns(request: UpstreamRequest): Promise<ToolTurn[]> {
  const { messages } = request.body
  if (!isLongRequest(request)) return listToolTurns(messages)
  const hasTurns = Array.isArray(messages) && messages.some(isToolTurn)
  return hasTurns ? runBodyJob(LIST_TURNS, request, {}) : []
}

/** Replaces the messages of a short request. Numbers are not rounded. */
function replaceMessages(
  request: UpstreamRequest,
  replace: (messages: readonly unknown[]) => readonly unknown[],
): UpstreamRequest {
  const body = parseLosslessBody(request)
  if (!Array.isArray(body.messages)) return request
  const messages = replace(body.messages)
  return {
    ...request,
    body: { ...request.body, messages },
    bodyText: JSON.stringify({ ...body, messages }),
  }
}

/** Returns the response with a function that stores its turns. */
export function withTurnStorage(
  response: UpstreamResponse,
  request: UpstreamRequest,
  provider: string,
): UpstreamResponse {
  const { turns } = request
  if (!turns || response.status !== 200) return response
  const describe = async (message: JsonObject) =>
    isLongRequest(request) ? runBodyJob(DESCRIBE, request, { message }) : describeTurn(request.body.messages, message)
  return {
    ...response,
    storeTurns(messages) {
      for (const message of messages) turns.store(describe(message), creatorOf(request, provider))
    },
  }
}

/** Some providers reject extras, even those that they created themselves. When a rejection names one, the request is sent again without extras. */
export async function retryWithoutExtras(
  first: UpstreamResponse,
  request: UpstreamRequest,
  send: (request: UpstreamRequest) => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  if (first.status !== 400 && first.status !== 422) return first
  const without = isLongRequest(request) ? await omitLongExtras(request) : omitExtras(request)
  if (without === null) return first
  return retryIfNamed(first, without.names, () => send(without.request))
}

function omitExtras(request: UpstreamRequest): RequestWithoutExtras<UpstreamRequest> | null {
  const { messages } = parseLosslessBody(request)
  const without = Array.isArray(messages) ? omitAllExtras(messages) : null
  return without && { request: replaceMessages(request, () => without.messages), names: without.names }
}

async function omitLongExtras(request: LongRequest): Promise<RequestWithoutExtras<UpstreamRequest> | null> {
  const without = await runBodyJob(OMIT_EXTRAS, request, {})
  return without && { request: replaceLongBody(request, request.body, without.request), names: without.names }
}
