/** The verdicts that people and the judge gave on pairs of questions. Each can be withdrawn. */

import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { nameDifference } from '../../../cache/reasons.ts'
import { call } from '../api.ts'
import { Badge, Button, Card, Empty, Loading, Name, Problem } from '../components/basics.tsx'
import { Confirm } from '../components/confirm.tsx'
import { ShowMore } from '../components/show-more.tsx'
import { formatAgo, plain } from '../format.ts'
import { usePaged } from '../paged.ts'
import { may } from '../session.ts'
import type { CacheVerdict, Project } from '../types.ts'

const SOURCES: Record<CacheVerdict['source'], string> = {
  person: 'A person',
  review: 'The judge, checking a served hit',
  judge: 'The judge',
}

export function Verdicts({ project }: { project: Project }) {
  const queries = useQueryClient()
  const [chosen, choose] = useState<CacheVerdict | null>(null)
  const list = usePaged<CacheVerdict>('/v1/cache/verdicts', { project_id: project.id, limit: 20 })
  return (
    <Card title="Verdicts">
      {list.error && <Problem error={list.error} />}
      {list.rows === undefined && !list.error && <Loading />}
      {list.rows?.length === 0 && (
        <Empty title="No verdicts yet">
          Verdicts on matches and near misses appear here. A person’s verdict overrides the judge’s.
        </Empty>
      )}
      <ul className="divide-y divide-line">
        {list.rows?.map(verdict => (
          <li key={verdict.id} className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 px-4 py-3.5">
            <VerdictDetails verdict={verdict} />
            {may(project, 'member') && (
              <Button look="quiet" className="!min-h-8 !py-1 text-xs" onClick={() => choose(verdict)}>
                Take back
              </Button>
            )}
          </li>
        ))}
      </ul>
      <ShowMore more={list.more} />
      {chosen && (
        <Confirm
          title="Take this verdict back?"
          action="Take back"
          run={() => call('DELETE', `/v1/cache/verdicts/${chosen.verdict_id}?project_id=${project.id}`)}
          onDone={() =>
            void queries.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith('/v1/cache') })
          }
          onClose={() => choose(null)}
        >
          From the next request on, the policy decides anew whether the one question may be answered by the other’s
          answer.
        </Confirm>
      )}
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
        {difference !== null && <span className="text-xs text-muted">differs in: {nameDifference(difference)}</span>}
        <span className="text-xs text-muted">{formatAgo(created_at)}</span>
        {model !== null && <Name className="font-mono text-xs text-muted">{model}</Name>}
      </div>
      {known.length === 0 ? (
        <p className="text-xs text-muted">Its text is not kept.</p>
      ) : (
        known.map(wording => (
          <p key={wording} dir="auto" className="whitespace-pre-wrap [overflow-wrap:anywhere]">
            {plain(wording)}
          </p>
        ))
      )}
    </div>
  )
}
