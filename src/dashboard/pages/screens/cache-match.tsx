/** A question and the cached one it was compared with, and the verdict on the two. */
import { useMutation } from '@tanstack/react-query'
import { describeMismatch } from '../../../cache/reasons.ts'
import { sendRequest } from '../api.ts'
import { Badge, Card, RowButton, TextLink, UserText } from '../components/elements.tsx'
import { formatAgo, formatUsd } from '../format.ts'
import { useInvalidateQueries, useRows } from '../queries.ts'
import { hasRole, useProject } from '../session.ts'
import type { CacheMatch, Project, RequestLogEntry } from '../types.ts'
import { QuestionComparison } from './question-comparison.tsx'

const REASONS: Record<CacheMatch['reason'], string> = {
  normalized: 'Same text',
  proved: 'Proved',
  verified: 'Verified',
  judged: 'Judged',
  threshold: 'Similar enough',
  undecided: 'Undecided',
}

interface MatchProps {
  match: CacheMatch
  project: Project
  /** Whether it is shown on the page of its request, which needs no link to it. */
  isOnRequest?: boolean
}

/** One comparison of two questions, with the buttons to record a person's verdict. */
export function Match({ match, project, isOnRequest = false }: MatchProps) {
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
          {!isOnRequest && (
            <TextLink to={`/${project.id}/requests`} search={{ request: match.request_id }} className="text-xs">
              View request
            </TextLink>
          )}
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

/** Renders nothing for a request of which no comparison is listed. */
export function RequestMatch({ request }: { request: RequestLogEntry }) {
  const project = useProject()
  const isHit = request.cache_result === 'HIT-SEMANTIC'
  const { data: [match] = [] } = useRows<CacheMatch>(
    `/v1/cache/${isHit ? 'matches' : 'near_misses'}`,
    { project_id: project?.id, request_id: request.request_id, limit: 1 },
    { enabled: project !== null && request.similarity !== null },
  )
  if (!project || !match) return null
  return (
    <Card title="Compared questions">
      <div className="space-y-3 p-4">
        <Match match={match} project={project} isOnRequest />
      </div>
    </Card>
  )
}
