/** Takes a person's feedback on a semantic hit. It costs nothing, and does not count against the month. */
import type { Admission } from '../admission/admission.ts'
import { hashBearerKey } from '../admission/api-key.ts'
import { invalidRequest, refuse } from '../errors.ts'
import type { LargeBodyReader } from '../large-bodies/read-large-body.ts'
import type { Database } from '../postgres/database.ts'
import { noteFeedback } from '../postgres/verdicts.ts'
import type { ProxyRequest, ProxyResponse } from './exchange.ts'
import { readObject } from './read-object.ts'
import { JSON_TYPE } from './response-headers.ts'

export type FeedbackHandler = (request: ProxyRequest) => Promise<ProxyResponse>

const MAX_ID_LENGTH = 256
/** Another process may not have written the match yet. */
const ASK_AGAIN_AFTER_MS = 300

/** Throws 400, 401, 403, 404 or 503. */
export function createFeedbackHandler(
  admission: Pick<Admission, 'authenticate'>,
  database: Database,
  largeBodies: LargeBodyReader,
): FeedbackHandler {
  return async request => {
    const { project_id } = await admission.authenticate(hashBearerKey(request.authorization), request)
    const { request_id, verdict } = (await readObject(request, largeBodies)).body
    if (typeof request_id !== 'string' || request_id === '' || request_id.length > MAX_ID_LENGTH) {
      throw invalidRequest('request_id must be the X-Request-Id of an answer.', 'request_id')
    }
    if (verdict !== 'wrong' && verdict !== 'right') throw invalidRequest('verdict must be wrong or right.', 'verdict')
    const give = () => noteFeedback(database, project_id, request_id, verdict)
    let outcome = await give()
    if (outcome === 'unknown') {
      await Bun.sleep(ASK_AGAIN_AFTER_MS)
      outcome = await give()
    }
    if (outcome === 'unknown') throw refuse('hitUnknown')
    if (outcome === 'gone') throw refuse('hitForgotten')
    return { status: 200, headers: { ...JSON_TYPE }, body: JSON.stringify({ request_id, verdict }) }
  }
}
