/** Semantic hits and near misses, and the verdicts that people give on them. */
import { Type as t } from '@sinclair/typebox'
import { preventsMatch } from '../../cache/reasons.ts'
import { findDifferences } from '../../cache/verify/difference.ts'
import { type Actor, callAsActor, type JsonRowOf } from '../../postgres/admin/call-as.ts'
import type { QuestionVault } from '../../providers/keys/question-vault.ts'
import { type AdminOperation, defineOperation } from '../admin-operation.ts'
import { notFoundError } from '../ids.ts'
import { formatTimeCursor, parseTimeCursor, rowLimit, stringEnum, timePageQuery, toPage } from '../pagination.ts'
import { cacheMatchSchema, cacheVerdictSchema, calibrationSchema, contextsSchema } from '../responses/cache.ts'
import { deletedSchema, pageSchema, textSchema } from '../responses/shared.ts'

const ofProject = { project_id: t.String() }
/** `request_id` selects the match of one request. */
const matchQuery = { ...ofProject, request_id: t.Optional(t.String()), ...timePageQuery }

export const MATCH_OPERATIONS: readonly AdminOperation[] = [
  listMatches('/v1/cache/matches', 'List semantic hits', true),
  listMatches('/v1/cache/near_misses', 'List near misses', false),
  defineOperation({
    ...{ method: 'POST', path: '/v1/cache/verdicts', tag: 'Matches', response: cacheMatchSchema },
    summary: 'Record a verdict on a match',
    body: { ...ofProject, request_id: t.String(), verdict: stringEnum('wrong', 'right') },
    async serve({ caller, options, ids, body: { request_id, verdict } }) {
      const project = ids.project_id
      await callAsActor(caller.actor, 'give_feedback', { project, request_id, verdict })
      options.recordVerdict('person', verdict === 'right' ? 'same' : 'different')
      return describeMatch(await findMatch(caller.actor, project, request_id), project, options.wordingReader)
    },
  }),
  defineOperation({
    ...{ method: 'GET', path: '/v1/cache/verdicts', tag: 'Matches', response: pageSchema(cacheVerdictSchema) },
    summary: 'List verdicts',
    query: { ...ofProject, ...timePageQuery },
    async serve({ caller, options, ids, query }) {
      const rows = await callAsActor(caller.actor, 'list_verdicts', {
        ...{ of_project: ids.project_id, page_size: rowLimit(query.limit) },
        ...pageStart(query.after, 'before_id'),
      })
      const described = rows.map(row => describeVerdict(row, ids.project_id, options.wordingReader))
      return toPage(await Promise.all(described), query.limit)
    },
  }),
  defineOperation({
    ...{ method: 'DELETE', path: '/v1/cache/verdicts/:verdict_id', tag: 'Matches' },
    summary: 'Delete a verdict',
    response: deletedSchema('cache.verdict', { id: textSchema }),
    query: ofProject,
    async serve({ caller, ids }) {
      const verdict_id = String(ids.verdict_id)
      await callAsActor(caller.actor, 'remove_verdict', { project: ids.project_id, verdict_id })
      return { object: 'cache.verdict.deleted', id: verdict_id, deleted: true }
    },
  }),
  defineOperation({
    ...{ method: 'GET', path: '/v1/cache/calibration', tag: 'Matches', response: calibrationSchema },
    summary: 'Read the calibration of the similarity threshold',
    query: ofProject,
    async serve({ caller, ids: { project_id: of_project } }) {
      const [histogram, calibration] = await Promise.all([
        callAsActor(caller.actor, 'similarity_histogram', { of_project }),
        callAsActor(caller.actor, 'list_calibration', { of_project }),
      ])
      return { object: 'cache.calibration', histogram, calibration }
    },
  }),
  defineOperation({
    ...{ method: 'GET', path: '/v1/cache/contexts', tag: 'Matches', response: contextsSchema },
    summary: 'List contexts in which the wording matters',
    query: ofProject,
    async serve({ caller, ids: { project_id: of_project } }) {
      return { object: 'cache.contexts', contexts: await callAsActor(caller.actor, 'list_contexts', { of_project }) }
    },
  }),
]

function listMatches(path: string, summary: string, served: boolean): AdminOperation {
  return defineOperation({
    ...{ method: 'GET', path, tag: 'Matches', summary, query: matchQuery, response: pageSchema(cacheMatchSchema) },
    async serve({ caller, options, ids: { project_id: of_project }, query }) {
      const rows = await callAsActor(caller.actor, 'list_semantic_matches', {
        ...{ of_project, served, only_request: query.request_id ?? null, page_size: rowLimit(query.limit) },
        ...pageStart(query.after, 'before_request_id'),
      })
      const described = rows.map(row => describeMatch(row, of_project, options.wordingReader))
      return toPage(await Promise.all(described), query.limit)
    },
  })
}

/** Returns the start of a page: the time of the cursor, and the id that orders equal times. */
function pageStart<Name extends string>(after: string | undefined, id: Name) {
  const cursor = after === undefined ? null : parseTimeCursor(after)
  return { before_time: cursor?.at ?? null, [id]: cursor?.requestId ?? null } as Record<
    'before_time' | Name,
    string | null
  >
}

type MatchRow = JsonRowOf<'list_semantic_matches'>

/** Finds the match of a request: a semantic hit or a near miss. */
async function findMatch(actor: Actor, project: number, requestId: string): Promise<MatchRow> {
  const of = { of_project: project, only_request: requestId, before_time: null, before_request_id: null, page_size: 1 }
  const [hits, misses] = await Promise.all(
    [true, false].map(served => callAsActor(actor, 'list_semantic_matches', { ...of, served })),
  )
  const row = hits?.[0] ?? misses?.[0]
  if (row === undefined) throw notFoundError('There is no such match in this project.')
  return row
}

async function describeMatch(row: MatchRow, project: number, wordings: QuestionVault) {
  const { _served_at: at, _cached_wording, _sealed_wording, ...shown } = row
  return {
    id: formatTimeCursor({ at, requestId: row.request_id }),
    object: row.reason === 'undecided' ? 'cache.near_miss' : 'cache.match',
    ...shown,
    wordings: await compareWordings(row, project, wordings),
  }
}

async function describeVerdict(row: JsonRowOf<'list_verdicts'>, project: number, stored: QuestionVault) {
  const { _given_at: at, ...shown } = row
  const wordings = await Promise.all(row.wordings.map(text => stored.openStored(text, project)))
  // `id` is the cursor of the list.
  return { id: formatTimeCursor({ at, requestId: shown.verdict_id }), object: 'cache.verdict', ...shown, wordings }
}

/**
 * Compares the two questions of a match. Returns null if the project stores no questions, or if the entry no longer exists. What prevented
 * a match was recorded with it: a served match has no such difference.
 */
async function compareWordings(
  { _cached_wording: stored, _sealed_wording: sealed, difference }: MatchRow,
  project: number,
  wordings: QuestionVault,
) {
  if (sealed === null) return null
  const [asked, cached] = await Promise.all([wordings.open(sealed, project), wordings.openStored(stored, project)])
  if (asked === null || cached === null) return null
  return {
    asked,
    cached,
    differences: findDifferences(asked, cached).map(({ kind, askedText, cachedText, askedAt, cachedAt }) => ({
      kind,
      harmless: !preventsMatch(kind, difference),
      asked_at: askedAt,
      asked_text: askedText,
      cached_at: cachedAt,
      cached_text: cachedText,
    })),
  }
}
