/** Counts a prompt's tokens before it is sent. It costs nothing, and does not count against the month. */
import { hashBearerKey } from '../admission/api-key.ts'
import { ProxyError } from '../errors.ts'
import { findKeptReferences } from '../formats/kept-references.ts'
import { withLongBody } from '../providers/long-body.ts'
import type { ProxyRequest, ProxyResponse } from './exchange.ts'
import { readModel } from './parse-request.ts'
import { readAll } from './read-answer.ts'
import { readObject } from './read-object.ts'
import type { Stages } from './stages.ts'

export type TokenCounter = (request: ProxyRequest) => Promise<ProxyResponse>

/** Uses the provider's own count if it offers one, else an estimate. Throws 400, 401, 403, 404 or 503. */
export function createTokenCounter({ admission, modelRouter, largeBodies, checkReferences }: Stages): TokenCounter {
  return async request => {
    const { endpoint, authorization, headers, signal } = request
    const account = await admission.authenticate(hashBearerKey(authorization), request)
    const { body, sent } = await readObject(request, largeBodies)
    const provider = modelRouter.resolve(readModel(body), account)
    if (provider instanceof ProxyError) throw provider
    await checkReferences(findKeptReferences(body, null), account, provider)
    const asked = { endpoint, headers, stream: false, countsAlone: true, signal }
    const answer = await provider.ask(
      typeof sent === 'string' ? { ...asked, body, bodyText: sent } : withLongBody(asked, body, sent),
    )
    return {
      status: answer.status,
      headers: { ...Object.fromEntries(answer.headers), 'x-proxy-provider': provider.name },
      body: await readAll(answer.body, provider.name),
    }
  }
}
