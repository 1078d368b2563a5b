/** Lists semantic hits or near misses, with buttons to record a person's verdict. */

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
    title: 'Semantic hits',
    path: '/v1/cache/matches',
    empty: 'No semantic hits in the last week',
    hint: 'Differently worded questions that were answered from the cache, newest first.',
  },
  'near-misses': {
    title: 'Near misses',
    path: '/v1/cache/near_misses',
    empty: 'No near misses in the last week',
    hint: 'Questions that were similar to a cached one, but not confirmed to have the same meaning. Once you confirm a pair, it is served from the cache.',
  },
}

export function SemanticMatches({ project, kind }: { project: Project; kind: keyof typeof KINDS }) {
  const { title, path, empty, hint } = KINDS[kind]
  const [{ request }, change] = useFilters()
  const query = { project_id: project.id, request_id: request, limit: 20 }
  const list = usePagedList<CacheMatch>(path, query, { refetchMs: REFRESH_MS })
  return (
    <div className="space-y-4">
      <ContentStorageNotice project={project} />
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

/** Explains why no text is shown, and turns its storage on. */
function ContentStorageNotice({ project }: { project: Project }) {
  const current = useSettings(project.id)
  const saving = useUpdateSettings(project.id)
  if (current.data?.settings.log_content !== 'off') return null
  return (
    <Card className="p-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-2xl min-w-0 text-muted">
          <b className="font-medium text-ink">Question text is not stored.</b> Similarity is shown without the text. If
          you turn it on, the text of all requests and responses is stored encrypted for a week and can be read by
          members of this project.
        </p>
        {hasRole(project, 'member') && (
          <Button disabled={saving.isPending} onClick={() => saving.mutate({ log_content: 'sealed' })}>
            Turn on text storage
          </Button>
        )}
      </div>
      <ErrorMessage error={saving.error} />
    </Card>
  )
}

const REASONS: Record<CacheMatch['reason'], string> = {
  normalized: 'Same text',
  proved: 'Proved',
  verified: 'Verified',
  judged: 'Judged',
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
            <Badge look="warn">Not served: {describeMismatch(difference)}</Badge>
          ) : (
            <Badge look={reason === 'threshold' ? 'warn' : 'good'}>{REASONS[reason]}</Badge>
          )}
          {match.is_shadow && <Badge>Not served (shadow mode)</Badge>}
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
            View request
          </Link>
        </div>
        <Verdict match={match} project={project} />
      </div>
      {wordings ? (
        <QuestionComparison wordings={wordings} />
      ) : (
        <p className="text-xs text-muted">
          {match.entry_id === null ? 'The cached response was deleted.' : 'The text was not stored.'}
        </p>
      )}
    </>
  )
}

/** Shows the verdict on the pair, and the buttons to record one. */
function Verdict({ match, project }: { match: CacheMatch; project: Project }) {
  const recording = useMutation({
    mutationFn: (verdict: 'wrong' | 'right') =>
      sendRequest('POST', '/v1/cache/verdicts', { project_id: project.id, request_id: match.request_id, verdict }),
    onSuccess: useInvalidateQueries(['/v1/cache/matches', '/v1/cache/near_misses', '/v1/cache/calibration']),
  })
  const { verdict, verdict_source: source, reason } = match
  const isServed = reason !== 'undecided'
  const isByPerson = source === 'person'
  // Nobody can judge what cannot be read.
  const canRecord = hasRole(project, 'member') && match.wordings !== null
  // The button that contradicts the cache's decision is more prominent, because that verdict changes what is served.
  const wrong = {
    children: isServed ? 'Mark as wrong' : 'Different meaning',
    look: isServed ? 'danger' : 'quiet',
  } as const
  const right = {
    children: isServed ? 'Mark as correct' : 'Same meaning',
    look: isServed ? 'quiet' : 'plain',
  } as const
  return (
    <div className="flex flex-wrap items-center gap-2">
      {recording.error && (
        <span role="alert" className="text-xs text-danger">
          {recording.error.message}
        </span>
      )}
      {verdict === 'same' && <Badge look="good">{isByPerson ? 'Marked same' : 'Judge: same'}</Badge>}
      {verdict === 'different' && (
        <Badge look="bad">{!isByPerson ? 'Judge: different' : isServed ? 'Marked wrong' : 'Marked different'}</Badge>
      )}
      {canRecord && !(isByPerson && verdict === 'same') && (
        <RowButton {...right} disabled={recording.isPending} onClick={() => recording.mutate('right')} />
      )}
      {canRecord && !(isByPerson && verdict === 'different') && (
        <RowButton {...wrong} disabled={recording.isPending} onClick={() => recording.mutate('wrong')} />
      )}
    </div>
  )
}
