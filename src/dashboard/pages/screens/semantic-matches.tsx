/** Semantic hits and near misses, each with buttons for a person's verdict. */

import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { describeMismatch } from '../../../cache/reasons.ts'
import { sendRequest } from '../api.ts'
import { Badge, Button, Card, ErrorMessage, RowButton, UserText } from '../components/elements.tsx'
import { List } from '../components/list.tsx'
import { useFilters } from '../filters.ts'
import { formatAgo, formatUsd } from '../format.ts'
import { useInvalidateQueries, usePagedList } from '../paged-list.ts'
import { hasRole } from '../session.ts'
import { useSettings, useUpdateSettings } from '../settings.ts'
import type { CacheMatch, Project } from '../types.ts'
import { QuestionComparison } from './question-comparison.tsx'

const REFRESH_MS = 5_000

const KINDS = {
  matches: {
    title: 'Served in other words',
    path: '/v1/cache/matches',
    empty: 'No semantic hits in the last week',
    hint: 'Questions that were answered from the cache although they were worded differently, newest first.',
  },
  'near-misses': {
    title: 'Near misses',
    path: '/v1/cache/near_misses',
    empty: 'No near misses in the last week',
    hint: 'Questions that were similar to a stored one, but not proved to ask the same. A pair that you confirm is served from the next request on.',
  },
}

export function SemanticMatches({ project, kind }: { project: Project; kind: keyof typeof KINDS }) {
  const { title, path, empty, hint } = KINDS[kind]
  const [{ request }, change] = useFilters()
  const asked = { project_id: project.id, request_id: request, limit: 20 }
  const list = usePagedList<CacheMatch>(path, asked, { refetchMs: REFRESH_MS })
  return (
    <div className="space-y-4">
      <KeepWordings project={project} />
      <Card
        title={request ? `${title}: one request` : title}
        action={request && <Button onClick={() => change({ request: '' })}>Show all</Button>}
      >
        <List
          {...list}
          className="space-y-3"
          empty={{ title: empty, help: hint }}
          item={match => <Match match={match} project={project} />}
        />
      </Card>
    </div>
  )
}

/** Explains why no wordings are shown, and turns their storage on. */
function KeepWordings({ project }: { project: Project }) {
  const current = useSettings(project.id)
  const keeping = useUpdateSettings(project.id)
  if (current.data?.settings.log_content !== 'off') return null
  return (
    <Card className="p-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-2xl min-w-0 text-muted">
          <b className="font-medium text-ink">Wordings are not kept.</b> You see how similar two questions were, but not
          their text. If it is kept, then so is what all requests say and get: encrypted, shown to members of this
          project, and deleted after a week.
        </p>
        {hasRole(project, 'member') && (
          <Button disabled={keeping.isPending} onClick={() => keeping.mutate({ log_content: 'sealed' })}>
            Keep wordings
          </Button>
        )}
      </div>
      <ErrorMessage error={keeping.error} />
    </Card>
  )
}

const REASONS: Record<CacheMatch['reason'], string> = {
  normalized: 'Same wording',
  proved: 'Proved',
  verified: 'Verified',
  judged: 'Confirmed',
  threshold: 'Similar enough',
  undecided: 'Undecided',
}

function Match({ match, project }: { match: CacheMatch; project: Project }) {
  const { similarity, reason, difference, wordings, model } = match
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1.5">
          <span className="font-semibold tabular-nums" title="Cosine similarity">
            <span className="sr-only">Similarity </span>
            {similarity.toFixed(4)}
          </span>
          {reason === 'undecided' ? (
            <Badge look="warn">Stopped by: {describeMismatch(difference)}</Badge>
          ) : (
            <Badge look={reason === 'threshold' ? 'warn' : 'good'}>{REASONS[reason]}</Badge>
          )}
          {match.is_shadow && <Badge>Shadow</Badge>}
          <span className="text-xs text-muted">
            {formatAgo(match.created_at)}
            {match.saved_usd > 0 &&
              `, ${reason === 'undecided' || match.is_shadow ? 'would have saved' : 'saved'} ${formatUsd(match.saved_usd)}`}
          </span>
          {model !== null && <UserText className="font-mono text-xs text-muted">{model}</UserText>}
          <Link
            to={`/${project.id}/requests` as never}
            search={{ request: match.request_id } as never}
            className="text-xs text-accent underline"
          >
            Its request
          </Link>
        </div>
        <Verdict match={match} project={project} />
      </div>
      {wordings ? (
        <QuestionComparison wordings={wordings} />
      ) : (
        <p className="text-xs text-muted">
          {match.entry_id === null ? 'The stored answer is gone.' : 'The wording was not kept.'}
        </p>
      )}
    </>
  )
}

/** Shows the verdict on the pair, and the buttons to give one. */
function Verdict({ match, project }: { match: CacheMatch; project: Project }) {
  const marking = useMutation({
    mutationFn: (verdict: 'wrong' | 'right') =>
      sendRequest('POST', '/v1/cache/verdicts', { project_id: project.id, request_id: match.request_id, verdict }),
    onSuccess: useInvalidateQueries(['/v1/cache/matches', '/v1/cache/near_misses', '/v1/cache/calibration']),
  })
  const { verdict, verdict_source: source, reason } = match
  const isServed = reason !== 'undecided'
  const byPerson = source === 'person'
  const mayGive = hasRole(project, 'member') && match.entry_id !== null
  // The button that contradicts the cache's decision is the prominent one: that verdict matters more.
  const wrong = { children: isServed ? 'Wrong match' : 'They differ', look: isServed ? 'danger' : 'quiet' } as const
  const right = {
    children: isServed ? 'It was right' : 'These are the same',
    look: isServed ? 'quiet' : 'plain',
  } as const
  return (
    <div className="flex flex-wrap items-center gap-2">
      {marking.error && (
        <span role="alert" className="text-xs text-danger">
          {marking.error.message}
        </span>
      )}
      {verdict === 'same' && <Badge look="good">{byPerson ? 'Confirmed: the same' : 'The judge: the same'}</Badge>}
      {verdict === 'different' && (
        <Badge look="bad">
          {!byPerson ? 'The judge: they differ' : isServed ? 'Marked wrong' : 'Confirmed: they differ'}
        </Badge>
      )}
      {mayGive && !(byPerson && verdict === 'same') && (
        <RowButton {...right} disabled={marking.isPending} onClick={() => marking.mutate('right')} />
      )}
      {mayGive && !(byPerson && verdict === 'different') && (
        <RowButton {...wrong} disabled={marking.isPending} onClick={() => marking.mutate('wrong')} />
      )}
    </div>
  )
}
