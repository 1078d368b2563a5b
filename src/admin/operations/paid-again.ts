/** GET /v1/usage/paid_again: the questions of a project that were paid for although they had been answered before. */
import { Type as t } from '@sinclair/typebox'
import { asObjects, type JsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import { callAsActor } from '../../postgres/admin/call-as.ts'
import type { QuestionVault } from '../../providers/keys/question-vault.ts'
import { type AdminOperation, defineOperation } from '../admin-operation.ts'
import { requireId } from '../ids.ts'
import { formatTimeCursor, readTimeRange, timeRangeQuery } from '../pagination.ts'
import { type PaidQuestion, paidAgainSchema } from '../responses/usage.ts'
import { USAGE_FILTER } from './overview.ts'
import { readTagFilter } from './usage.ts'

const MAX_QUESTION_LENGTH = 300

export const PAID_AGAIN_OPERATIONS: readonly AdminOperation[] = [
  defineOperation({
    ...{ method: 'GET', path: '/v1/usage/paid_again', tag: 'Usage', response: paidAgainSchema },
    summary: 'List questions that were paid for again',
    query: {
      ...USAGE_FILTER,
      project_id: t.String(),
      ...timeRangeQuery,
    },
    async serve({ caller, options, ids, query: asked }) {
      const filter = {
        of_project: ids.project_id,
        ...readTimeRange(asked),
        of_model: asked.model,
        of_key: asked.api_key_id === undefined ? undefined : requireId('key', asked.api_key_id),
        of_key_type: asked.key_type,
        of_tags: readTagFilter(asked.tags),
      }
      const [found] = await callAsActor(caller.actor, 'paid_again', filter, { mayLag: true })
      const rows = (found?.questions ?? []) as QuestionRow[]
      const questions = rows.map(row => describeQuestion(row, ids.project_id, options.wordingReader))
      const sums = { since: found?.since ?? null, requests: found?.requests ?? 0, cost_usd: found?.cost_usd ?? 0 }
      return { object: 'usage.paid_again', ...sums, questions: await Promise.all(questions) }
    },
  }),
]

type QuestionRow = Omit<PaidQuestion, 'id' | 'question'> & { _last_at: string; _sealed_request: string | null }

async function describeQuestion(
  { _last_at: at, _sealed_request: sealed, ...row }: QuestionRow,
  project: number,
  vault: QuestionVault,
) {
  const text = sealed === null ? null : await vault.open(sealed, project)
  const question = readQuestion(parseJsonObject(text ?? '') ?? {})?.slice(0, MAX_QUESTION_LENGTH) ?? null
  return { id: formatTimeCursor({ at, requestId: row.last_request_id }), ...row, question }
}

/** Returns the question of a request: the last text of its last message, if a user sent that; null when there is no such text. */
function readQuestion(body: JsonObject): string | null {
  const turns = body.messages ?? body.input ?? body.prompt
  if (typeof turns === 'string') return turns
  const last = asObjects(turns).at(-1)
  if (last?.role !== 'user') return null
  if (typeof last.content === 'string') return last.content
  const text = asObjects(last.content).findLast(part => typeof part.text === 'string')?.text
  return typeof text === 'string' ? text : null
}
