/** Lists the verdicts of people and the judge on pairs of questions. Each can be deleted. */
import { describeMismatch } from '../../../cache/reasons.ts'
import { type Action, isActionAllowed, useActions } from '../components/actions.tsx'
import { Badge, Card, RowButton, UserText } from '../components/elements.tsx'
import { List } from '../components/table.tsx'
import { escapeControlCharacters, formatAgo } from '../format.ts'
import { usePagedList } from '../paged-list.ts'
import type { CacheVerdict, Project } from '../types.ts'

const PATH = '/v1/cache/verdicts'

const SOURCES: Record<CacheVerdict['source'], string> = {
  person: 'Person',
  review: 'Judge (review of a served hit)',
  judge: 'Judge',
}

const DELETE: Action<CacheVerdict> = {
  title: 'Delete',
  requiredRole: 'member',
  method: 'DELETE',
  confirmation: () => ({
    title: 'Delete this verdict?',
    action: 'Delete verdict',
    text: 'The match policy then decides again whether the two questions match, starting with the next request.',
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
        empty={{
          title: 'No verdicts yet',
          help: 'Verdicts on matches and near misses appear here. A person’s verdict overrides the judge’s.',
        }}
      >
        {verdicts => (
          <ul className="divide-y divide-line">
            {verdicts.map(verdict => (
              <li key={verdict.id} className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 px-4 py-3.5">
                <VerdictDetails verdict={verdict} />
                {isActionAllowed(DELETE, project) && (
                  <RowButton look="quiet" onClick={() => act(DELETE, verdict)}>
                    {DELETE.title}
                  </RowButton>
                )}
              </li>
            ))}
          </ul>
        )}
      </List>
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
        <Badge look={verdict === 'same' ? 'good' : 'bad'}>{verdict === 'same' ? 'Same' : 'Different'}</Badge>
        <span>{SOURCES[source]}</span>
        {similarity !== null && (
          <span className="text-muted tabular-nums" title="Cosine similarity">
            <span className="sr-only">Similarity </span>
            {similarity.toFixed(4)}
          </span>
        )}
        {difference !== null && <span className="text-xs text-muted">Difference: {describeMismatch(difference)}</span>}
        <span className="text-xs text-muted">{formatAgo(created_at)}</span>
        {model !== null && <UserText className="font-mono text-xs text-muted">{model}</UserText>}
      </div>
      {known.length === 0 ? (
        <p className="text-xs text-muted">The text was not stored.</p>
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
