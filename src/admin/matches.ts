/** /v1/cache: semantic hits and near misses, and the verdicts that people give on them. */
import { t } from 'elysia'
import { readPrompt } from '../cache/text/read-prompt.ts'
import { findDifferences } from '../cache/verify/difference.ts'
import type { Actor } from '../postgres/admin/act-as.ts'
import {
  giveFeedback,
  listCalibration,
  pageOfMatches,
  pageOfVerdicts,
  removeVerdict,
  similarityHistogram,
} from '../postgres/admin/matches.ts'
import type { MatchRow, VerdictRow } from '../postgres/admin/rows.ts'
import type { Wordings } from '../providers/keys/wordings.ts'
import { cacheMatch, cacheVerdict, calibrations } from './answers/cache.ts'
import { deleted, pagesOf, text } from './answers/shared.ts'
import { type AdminOptions, createController } from './controller.ts'
import { strict } from './field-types.ts'
import { formatId, notFound, requireId } from './ids.ts'
import { operation } from './operation.ts'
import { oneOf, pageQuery, pageSize, toPage, toSeconds } from './pages.ts'
import { findProject } from './projects.ts'
import { formatTimeCursor, readTimeCursor } from './time-cursor.ts'

const query = t.Object({ project_id: t.String(), ...pageQuery }, strict)
/** `request_id`: the match of one request. */
const matchQuery = t.Object({ project_id: t.String(), request_id: t.Optional(t.String()), ...pageQuery }, strict)

export function createMatchesController(options: AdminOptions) {
  const { wordings, noteVerdict } = options

  return createController(options, '/v1/cache', 'Matches')
    .get(
      '/matches',
      ({ caller, query: asked }) => listMatches(options, caller.actor, asked, { served: true }),
      operation('List semantic hits', pagesOf(cacheMatch), { query: matchQuery }),
    )
    .get(
      '/near_misses',
      ({ caller, query: asked }) => listMatches(options, caller.actor, asked, { served: false }),
      operation('List near misses', pagesOf(cacheMatch), { query: matchQuery }),
    )
    .post(
      '/verdicts',
      async ({ caller, body: { project_id, request_id, verdict } }) => {
        const project = requireId('proj', project_id)
        await giveFeedback(caller.actor, { project, request_id, verdict })
        noteVerdict('person', verdict === 'right' ? 'same' : 'different')
        return describeMatch(await findMatch(caller.actor, project, request_id), project, wordings)
      },
      operation('Say whether a match was right', cacheMatch, {
        body: t.Object({ project_id: t.String(), request_id: t.String(), verdict: oneOf('wrong', 'right') }, strict),
      }),
    )
    .get(
      '/verdicts',
      async ({ caller, query: asked }) => {
        const { id } = await findProject(caller.actor, asked.project_id)
        const cursor = asked.after === undefined ? null : readTimeCursor(asked.after)
        const rows = await pageOfVerdicts(caller.actor, {
          of_project: id,
          before_time: cursor?.at,
          before_id: cursor?.requestId,
          page_size: pageSize(asked.limit),
        })
        return toPage(rows.map(describeVerdict), asked.limit)
      },
      operation('List verdicts', pagesOf(cacheVerdict), { query }),
    )
    .delete(
      '/verdicts/:verdict_id',
      async ({ caller, params: { verdict_id }, query: { project_id } }) => {
        await removeVerdict(caller.actor, { project: requireId('proj', project_id), verdict_id })
        return { object: 'cache.verdict.deleted' as const, id: verdict_id, deleted: true }
      },
      operation('Withdraw a verdict', deleted('cache.verdict', { id: text }), {
        query: t.Object({ project_id: t.String() }, strict),
      }),
    )
    .get(
      '/calibration',
      async ({ caller, query: { project_id } }) => {
        const { id } = await findProject(caller.actor, project_id)
        const [histogram, calibration] = await Promise.all([
          similarityHistogram(caller.actor, { of_project: id }),
          listCalibration(caller.actor, { of_project: id }),
        ])
        return { object: 'cache.calibration' as const, histogram, calibration }
      },
      operation('Compare similarities with verdicts', calibrations, {
        query: t.Object({ project_id: t.String() }, strict),
      }),
    )
}

async function listMatches(
  { wordings }: AdminOptions,
  actor: Actor,
  asked: typeof matchQuery.static,
  { served }: { served: boolean },
) {
  const { id } = await findProject(actor, asked.project_id)
  const cursor = asked.after === undefined ? null : readTimeCursor(asked.after)
  const rows = await pageOfMatches(actor, {
    of_project: id,
    served,
    only_request: asked.request_id,
    before_time: cursor?.at,
    before_request_id: cursor?.requestId,
    page_size: pageSize(asked.limit),
  })
  return toPage(await Promise.all(rows.map(row => describeMatch(row, id, wordings))), asked.limit)
}

/** The request's match, served or nearly. */
async function findMatch(actor: Actor, project: number, requestId: string): Promise<MatchRow> {
  const of = { of_project: project, only_request: requestId }
  const [hits, misses] = await Promise.all(
    [true, false].map(served => pageOfMatches(actor, { ...of, served, page_size: 1 })),
  )
  const row = hits?.[0] ?? misses?.[0]
  if (row === undefined) throw notFound('There is no such match in this project.')
  return row
}

async function describeMatch(row: MatchRow, project: number, wordings: Wordings) {
  const { served_at, entry_id, cached_wording, sealed_wording, reason, ...rest } = row
  return {
    id: formatTimeCursor({ at: served_at, requestId: row.request_id }),
    object: reason === 'undecided' ? ('cache.near_miss' as const) : ('cache.match' as const),
    created_at: toSeconds(served_at),
    reason,
    ...rest,
    entry_id: entry_id === null ? null : formatId('entry', entry_id),
    wordings: await compareWordings(row, project, wordings),
  }
}

function describeVerdict({ given_at, verdict_id, one_wording, other_wording, ...rest }: VerdictRow) {
  return {
    // The list's cursor.
    id: formatTimeCursor({ at: given_at, requestId: verdict_id }),
    object: 'cache.verdict' as const,
    verdict_id,
    created_at: toSeconds(given_at),
    ...rest,
    wordings: [one_wording, other_wording],
  }
}

/** Null when the project stores no wordings, or the entry no longer exists. */
async function compareWordings(
  { cached_wording: cached, sealed_wording }: MatchRow,
  project: number,
  wordings: Wordings,
) {
  if (sealed_wording === null || cached === null) return null
  const asked = await wordings.open(sealed_wording, project)
  if (asked === null) return null
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
