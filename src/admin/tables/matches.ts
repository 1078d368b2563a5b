/** Semantic hits and near misses, and the verdicts that people give on them. */
import { t } from 'elysia'
import { readPrompt } from '../../cache/text/read-prompt.ts'
import { findDifferences } from '../../cache/verify/difference.ts'
import { type Actor, callAs, type JsonRowOf } from '../../postgres/admin/call-as.ts'
import type { Wordings } from '../../providers/keys/wordings.ts'
import { cacheMatch, cacheVerdict, calibrations } from '../answers/cache.ts'
import { deleted, pagesOf, text } from '../answers/shared.ts'
import { type Asked, requireProject } from '../find-objects.ts'
import { notFound, requireId } from '../ids.ts'
import { oneOf, pageQuery, pageSize, toPage } from '../pages.ts'
import { type Operation, serveBy } from '../table-row.ts'
import { formatTimeCursor, readTimeCursor } from '../time-cursor.ts'

const ofProject = { project_id: t.String() }
/** `request_id`: the match of one request. */
const matchQuery = { ...ofProject, request_id: t.Optional(t.String()), ...pageQuery }

export const MATCHES: readonly Operation[] = [
  listMatches('/v1/cache/matches', 'List semantic hits', true),
  listMatches('/v1/cache/near_misses', 'List near misses', false),
  serveBy({
    ...{ method: 'POST', path: '/v1/cache/verdicts', tag: 'Matches', answer: cacheMatch },
    summary: 'Say whether a match was right',
    body: { ...ofProject, request_id: t.String(), verdict: oneOf('wrong', 'right') },
    async serve({ caller, options, ids, body: { request_id, verdict } }) {
      const project = ids.project_id
      await callAs(caller.actor, 'give_feedback', { project, request_id, verdict })
      options.noteVerdict('person', verdict === 'right' ? 'same' : 'different')
      return describeMatch(await findMatch(caller.actor, project, request_id), project, options.wordings)
    },
  }),
  serveBy({
    ...{ method: 'GET', path: '/v1/cache/verdicts', tag: 'Matches', answer: pagesOf(cacheVerdict) },
    summary: 'List verdicts',
    query: { ...ofProject, ...pageQuery },
    async serve({ caller, options, ids, query }) {
      await requireProject(caller.actor, ids.project_id)
      const rows = await callAs(caller.actor, 'page_of_verdicts', {
        ...{ of_project: ids.project_id, page_size: pageSize(query.limit) },
        ...startOf(query.after, 'before_id'),
      })
      const described = rows.map(row => describeVerdict(row, ids.project_id, options.wordings))
      return toPage(await Promise.all(described), query.limit)
    },
  }),
  serveBy({
    ...{ method: 'DELETE', path: '/v1/cache/verdicts/:verdict_id', tag: 'Matches' },
    summary: 'Withdraw a verdict',
    answer: deleted('cache.verdict', { id: text }),
    query: ofProject,
    async serve({ caller, ids }) {
      const verdict_id = String(ids.verdict_id)
      await callAs(caller.actor, 'remove_verdict', { project: ids.project_id, verdict_id })
      return { object: 'cache.verdict.deleted', id: verdict_id, deleted: true }
    },
  }),
  serveBy({
    ...{ method: 'GET', path: '/v1/cache/calibration', tag: 'Matches', answer: calibrations },
    summary: 'Compare similarities with verdicts',
    query: ofProject,
    async serve({ caller, ids }) {
      const of_project = ids.project_id
      await requireProject(caller.actor, of_project)
      const [histogram, calibration] = await Promise.all([
        callAs(caller.actor, 'similarity_histogram', { of_project }),
        callAs(caller.actor, 'list_calibration', { of_project }),
      ])
      return { object: 'cache.calibration', histogram, calibration }
    },
  }),
]

function listMatches(path: string, summary: string, served: boolean): Operation {
  return serveBy({
    ...{ method: 'GET', path, tag: 'Matches', summary, query: matchQuery, answer: pagesOf(cacheMatch) },
    async serve({ caller, options, query }: Asked) {
      const of_project = requireId('proj', query.project_id)
      await requireProject(caller.actor, of_project)
      const rows = await callAs(caller.actor, 'page_of_matches', {
        ...{ of_project, served, only_request: query.request_id ?? null, page_size: pageSize(query.limit) },
        ...startOf(query.after, 'before_request_id'),
      })
      const described = rows.map(row => describeMatch(row, of_project, options.wordings))
      return toPage(await Promise.all(described), query.limit)
    },
  })
}

/** Where a page begins: behind a time, and behind an id for equal times. */
function startOf<Name extends string>(after: string | undefined, id: Name) {
  const cursor = after === undefined ? null : readTimeCursor(after)
  return { before_time: cursor?.at ?? null, [id]: cursor?.requestId ?? null } as Record<
    'before_time' | Name,
    string | null
  >
}

type MatchRow = JsonRowOf<'page_of_matches'>

/** The request's match, served or nearly. */
async function findMatch(actor: Actor, project: number, requestId: string): Promise<MatchRow> {
  const of = { of_project: project, only_request: requestId, before_time: null, before_request_id: null, page_size: 1 }
  const [hits, misses] = await Promise.all(
    [true, false].map(served => callAs(actor, 'page_of_matches', { ...of, served })),
  )
  const row = hits?.[0] ?? misses?.[0]
  if (row === undefined) throw notFound('There is no such match in this project.')
  return row
}

async function describeMatch(row: MatchRow, project: number, wordings: Wordings) {
  const { _served_at: at, _cached_wording, _sealed_wording, ...shown } = row
  return {
    id: formatTimeCursor({ at, requestId: row.request_id }),
    object: row.reason === 'undecided' ? 'cache.near_miss' : 'cache.match',
    ...shown,
    wordings: await compareWordings(row, project, wordings),
  }
}

async function describeVerdict(row: JsonRowOf<'page_of_verdicts'>, project: number, stored: Wordings) {
  const { _given_at: at, ...shown } = row
  const wordings = await Promise.all(row.wordings.map(text => stored.openStored(text, project)))
  // The list's cursor.
  return { id: formatTimeCursor({ at, requestId: shown.verdict_id }), object: 'cache.verdict', ...shown, wordings }
}

/** Null when the project stores no wordings, or the entry no longer exists. */
async function compareWordings(
  { _cached_wording: stored, _sealed_wording: sealed }: MatchRow,
  project: number,
  wordings: Wordings,
) {
  if (sealed === null) return null
  const [asked, cached] = await Promise.all([wordings.open(sealed, project), wordings.openStored(stored, project)])
  if (asked === null || cached === null) return null
  const harmless = readPrompt(asked).normalized === readPrompt(cached).normalized
  return {
    asked,
    cached,
    differences: findDifferences(asked, cached).map(({ kind, askedText, cachedText, askedAt, cachedAt }) => ({
      kind,
      harmless,
      asked_at: askedAt,
      asked_text: askedText,
      cached_at: cachedAt,
      cached_text: cachedText,
    })),
  }
}
