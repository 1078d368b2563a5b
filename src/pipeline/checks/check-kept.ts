/** Asks the hook about what providers keep: the requests of a batch before it gets them, a kept response before it is read. */
import { createYieldTurn } from '../../event-loop/turns.ts'
import { HookRefusal } from '../../hooks/verdict.ts'
import { MAX_PLAIN_BYTES, readAll } from '../../providers/read-bytes.ts'
import type { PassedBody } from '../../providers/upstream.ts'
import type { ProxyResponse } from '../request.ts'
import type { RequestContext, Stages } from '../request-context.ts'
import { aboutOf } from './check.ts'
import { type ShownForm, shownBody, shownJson } from './sent-text.ts'

/** Lines that are under way at once. */
const AT_ONCE = 16
const NO_REQUEST = Buffer.from('{}')

/** One request of a batch, or all of them, in JSON. */
export interface LineToCheck {
  bytes: Uint8Array
  /** Before what is said of one that is refused. */
  where: string
}

/** Each by itself. Throws as `Hook.ask` does. */
export async function checkRequests(
  context: RequestContext,
  lines: Iterable<LineToCheck>,
  { hook }: Pick<Stages, 'hook'>,
): Promise<void> {
  if (!hook) return
  const {
    request: { trace },
    account,
  } = context
  const about = aboutOf(context)
  const yieldTurn = createYieldTurn()
  const underWay = new Set<Promise<void>>()
  for (const { bytes, where } of lines) {
    const request = await shownJson(bytes, { owner: account.project_id, mostBytes: hook.mostBytes })
    const asking: Promise<void> = hook.ask({ when: 'before', about, request, trace }).then(
      () => void underWay.delete(asking),
      error => {
        throw error instanceof HookRefusal ? error.behind(where) : error
      },
    )
    // The first that may not pass ends the loop; the others' failures are the same to it.
    asking.catch(() => {})
    underWay.add(asking)
    if (underWay.size >= AT_ONCE) await Promise.race(underWay)
    await yieldTurn()
  }
  await Promise.all(underWay)
}

/** A body that a storage provider gets, without the content of files. Throws as `Hook.ask` does. */
export async function checkBody(
  context: RequestContext,
  body: PassedBody,
  { hook }: Pick<Stages, 'hook'>,
): Promise<void> {
  if (!hook) return
  const options = { owner: context.account.project_id, mostBytes: hook.mostBytes, omitsFiles: true }
  const request = await shownBody(body, options)
  await hook.ask({ when: 'before', about: aboutOf(context), request, trace: context.request.trace })
}

/** A query string that goes to a provider with the request, decoded. Throws as `Hook.ask` does. */
export async function checkSearch(context: RequestContext, { hook }: Pick<Stages, 'hook'>): Promise<void> {
  const { search, trace } = context.request
  if (!hook || search.length <= 1) return
  const fields = Map.groupBy(new URLSearchParams(search), ([name]) => name)
  const query = Object.fromEntries(Array.from(fields, ([name, given]) => [name, given.map(([, value]) => value)]))
  const bytes = Buffer.from(JSON.stringify({ query }))
  const request = await shownJson(bytes, { owner: context.account.project_id, mostBytes: hook.mostBytes })
  await hook.ask({ when: 'before', about: aboutOf(context), request, trace })
}

/** The response, read whole. Throws as `Hook.ask` does. */
export async function passKept(
  context: RequestContext,
  response: ProxyResponse,
  { hook }: Pick<Stages, 'hook'>,
): Promise<ProxyResponse> {
  if (!hook || response.status !== 200) return response
  const { body } = response
  const name = context.provider?.name ?? ''
  const whole =
    body instanceof ReadableStream
      ? await readAll(body, name, MAX_PLAIN_BYTES, context.request.held)
      : Buffer.from(body)
  const form: ShownForm = response.headers['content-type']?.includes('text/event-stream') ? 'events' : 'json'
  const answer = await shownJson(whole, { owner: context.account.project_id, mostBytes: hook.mostBytes, form })
  const about = { ...aboutOf(context), stored: true }
  await hook.ask({ when: 'after', about, request: NO_REQUEST, answer, trace: context.request.trace })
  return { ...response, body: whole }
}
