/** Shows a project the exchanges of words that its verdicts have shown to be harmless, and removes one on request. */
import type { Admission } from '../admission/admission.ts'
import { hashBearerKey } from '../admission/api-key.ts'
import { invalidRequest, refuse } from '../errors.ts'
import type { LargeBodyReader } from '../large-bodies/read-large-body.ts'
import type { Database } from '../postgres/database.ts'
import { listExchanges, withdrawExchange } from '../postgres/equivalences.ts'
import type { ProxyRequest, ProxyResponse } from './exchange.ts'
import { readOptionalObject } from './read-object.ts'
import { JSON_TYPE } from './response-headers.ts'

export type EquivalencesHandler = (request: ProxyRequest) => Promise<ProxyResponse>

/** Takes `{"remove": [one, other]}` or an empty body, and returns the list that is left. Throws 400, 401, 403, 404 or 503. */
export function createEquivalencesHandler(
  admission: Pick<Admission, 'authenticate'>,
  database: Database,
  largeBodies: LargeBodyReader,
): EquivalencesHandler {
  return async request => {
    const { project_id } = await admission.authenticate(hashBearerKey(request.authorization), request)
    const { remove } = await readOptionalObject(request, largeBodies)
    if (remove !== undefined) {
      if (!isPair(remove)) throw invalidRequest('remove must be a list of the two texts of an exchange.', 'remove')
      if (!(await withdrawExchange(database, project_id, remove))) throw refuse('exchangeUnknown')
    }
    const list = await listExchanges(database, project_id)
    return { status: 200, headers: { ...JSON_TYPE }, body: JSON.stringify({ equivalences: list?.exchanges ?? [] }) }
  }
}

function isPair(value: unknown): value is [string, string] {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    value.every(each => typeof each === 'string' && !each.includes('\0') && each.isWellFormed())
  )
}
