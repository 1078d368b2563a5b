/** Lists semantic hits or near misses, with buttons to record a person's verdict. */
import { Button, Card, ErrorMessage } from '../components/elements.tsx'
import { List } from '../components/table.tsx'
import { useFilters } from '../filters.ts'
import { usePagedList } from '../paged-list.ts'
import { hasRole } from '../session.ts'
import { useSettings, useUpdateSettings } from '../settings.ts'
import type { CacheMatch, Project } from '../types.ts'
import { Match } from './cache-match.tsx'

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
        <List {...list} empty={{ title: empty, help: hint }}>
          {matches => (
            <ul className="divide-y divide-line">
              {matches.map(match => (
                <li key={match.id} className="space-y-3 px-4 py-3.5">
                  <Match match={match} project={project} />
                </li>
              ))}
            </ul>
          )}
        </List>
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
