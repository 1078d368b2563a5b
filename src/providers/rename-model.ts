/** Wraps a provider that knows a model by another name than the client. */

import { Job } from '../event-loop/off-loop.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import { parseExactly } from '../formats/json/exact-json.ts'
import { withValue } from '../formats/read-form.ts'
import { isLong, runOnBody, withLongBody } from './long-body.ts'
import type { PassedBody, PassedRequest, Provider, RealtimeAsked } from './upstream.ts'

export interface RenameInput {
  bytes: Uint8Array
  name: string
}

const RENAME = new Job<RenameInput, Uint8Array>(new URL('./jobs.ts', import.meta.url), 'renameModel')

/** Asks for `name`, whatever model the request names; the response keeps the provider's name. */
export function renameModel(provider: Provider, name: string): Provider {
  const { pass, realtime, withKey } = provider
  return {
    ...provider,
    ...(pass && {
      pass: (request: PassedRequest) => pass({ ...request, body: request.body && renameInBody(request.body, name) }),
    }),
    ...(realtime && { realtime: (asked: RealtimeAsked) => realtime({ ...asked, model: name }) }),
    ...(withKey && { withKey: (key: string) => renameModel(withKey(key), name) }),
    ask: async request => {
      if (isLong(request)) {
        const renamed = await renameInLong(request, name)
        return provider.ask(withLongBody(request, { ...request.body, model: name }, renamed))
      }
      const bodyText = renameInText(request.bodyText, name)
      return provider.ask({ ...request, bodyText, body: { ...request.body, model: name } })
    },
  }
}

/** Returns a copy of a long body with another model, written by a worker. */
export function renameInLong(request: { bodyBytes: Uint8Array; owner?: number }, name: string): Promise<Uint8Array> {
  return runOnBody(RENAME, request, { name })
}

/** Changes only the model, in JSON or in a form. */
export function renameInBody(body: PassedBody, name: string): PassedBody {
  const fields = { ...body.fields, model: name }
  if (body.form) return { ...body, fields, bytes: withValue(body.form, 'model', name) }
  return { ...body, fields, bytes: writeRenamed(body.bytes, name) }
}

export function writeRenamed(bytes: Uint8Array, name: string): Uint8Array {
  return new TextEncoder().encode(renameInText(new TextDecoder().decode(bytes), name))
}

/** Written from the text, in which no number is rounded. */
export function renameInText(body: string, name: string): string {
  return JSON.stringify({ ...(parseExactly(body) as JsonObject), model: name })
}
