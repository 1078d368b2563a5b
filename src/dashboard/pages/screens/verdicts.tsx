/** The verdicts that people and the judge gave on pairs of questions. Each can be withdrawn. */
import { describeMismatch } from '../../../cache/reasons.ts'
import { type Action, isActionAllowed, useActions } from '../components/actions.tsx'
import { Badge, Card, RowButton, UserText } from '../components/elements.tsx'
import { List } from '../components/list.tsx'
import { escapeControlCharacters, formatAgo } from '../format.ts'
import { usePagedList } from '../paged-list.ts'
import type { CacheVerdict, Project } from '../types.ts'

const PATH = '/v1/cache/verdicts'

const SOURCES: Record<CacheVerdict['source'], string> = {
  person: 'A person',
  review: 'The judge, checking a served hit',
  judge: 'The judge',
}

const TAKE_BACK: Action<CacheVerdict> = {
  title: 'Take back',
  requiredRole: 'member',
  method: 'DELETE',
  confirmation: () => ({
    title: 'Take this verdict back?',
    action: 'Take back',
    text: 'From the next request on, the policy decides anew whether the one question may be answered by the other’s answer.',
  }),
}

export function Verdicts({ project }: { project: Project }) {
  const list = usePagedList<CacheVerdict>(PATH, { project_id: project.id, limit: 20 })
  const { act, dialog } = useActions<CacheVerdict>(
    ({ verdict_id }) => `${PATH}/${verdict_id}?project_id=${project.id}`,
    ['/v1/cache'],
  )
  return (
    <Card title="Verdicts">
      <List
        {...list}
        className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2"
        empty={{
          title: 'No verdicts yet',
          help: 'Verdicts on matches and near misses appear here. A person’s verdict overrides the judge’s.',
        }}
        item={verdict => (
          <>
            <VerdictDetails verdict={verdict} />
            {isActionAllowed(TAKE_BACK, project) && (
              <RowButton look="quiet" onClick={() => act(TAKE_BACK, verdict)}>
                {TAKE_BACK.title}
              </RowButton>
            )}
          </>
        )}
      />
      {dialog}
    </Card>
  )
}

function VerdictDetails({
  verdict: { verdict, source, similarity, difference, created_at, model, wordings },
}: {
  verdict: CacheVerdict
}) {
  const known = wordings.filter(wording => wording !== null)
  return (
    <div className="min-w-0 space-y-1.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <Badge look={verdict === 'same' ? 'good' : 'bad'}>{verdict === 'same' ? 'The same' : 'They differ'}</Badge>
        <span>{SOURCES[source]}</span>
        {similarity !== null && (
          <span className="text-muted tabular-nums" title="Cosine similarity">
            <span className="sr-only">Similarity </span>
            {similarity.toFixed(4)}
          </span>
        )}
        {difference !== null && <span className="text-xs text-muted">differs in: {describeMismatch(difference)}</span>}
        <span className="text-xs text-muted">{formatAgo(created_at)}</span>
        {model !== null && <UserText className="font-mono text-xs text-muted">{model}</UserText>}
      </div>
      {known.length === 0 ? (
        <p className="text-xs text-muted">Its text is not kept.</p>
      ) : (
        known.map(wording => (
          <p key={wording} dir="auto" className="whitespace-pre-wrap [overflow-wrap:anywhere]">
            {escapeControlCharacters(wording)}
          </p>
        ))
      )}
    </div>
  )
}
