/** Lists contexts in which the wording of questions matters, and those that the project corrected, with buttons to correct them. */
import { useQuery } from '@tanstack/react-query'
import { Badge, Card, ErrorMessage, RowButton, TextLink } from '../components/elements.tsx'
import { formatAgo, formatPlural } from '../format.ts'
import { hasRole } from '../session.ts'
import { useUpdateSettings } from '../settings.ts'
import type { CacheContexts, Project, Settings } from '../types.ts'

type Correction = 'question' | 'wording'

export function ContextCorrections({ project, settings }: { project: Project; settings: Settings['settings'] }) {
  const { data, error } = useQuery<CacheContexts>({ queryKey: ['/v1/cache/contexts', { project_id: project.id }] })
  const saving = useUpdateSettings(project.id)
  const corrected = settings.semantic_contexts
  const corrections = new Map(
    (Array.isArray(corrected) ? corrected : []).map(each => String(each).split('=') as [string, Correction]),
  )
  const recorded = new Map(data?.contexts.map(context => [context.instructions_hash, context]))
  const hashes = [...new Set([...recorded.keys(), ...corrections.keys()])]
  function correct(hash: string, correction: Correction) {
    const changed = [...new Map(corrections).set(hash, correction)].map(each => each.join('='))
    saving.mutate({ semantic_contexts: changed.join(',') })
  }
  if (hashes.length === 0) return <ErrorMessage error={error} />
  return (
    <Card title="Contexts in which the wording matters">
      <p className="px-4 pt-4 text-muted">
        The instructions of these requests work on the wording of the question, such as a translation, so that only
        equal text is answered from the cache.
      </p>
      <ul className="divide-y divide-line">
        {hashes.map(hash => {
          const context = recorded.get(hash)
          const matters = corrections.get(hash) !== 'question'
          return (
            <li key={hash} className="flex flex-wrap items-center justify-between gap-3 px-4 py-3">
              <span className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1.5">
                <span className="font-mono">{hash}</span>
                {corrections.has(hash) && (
                  <Badge look={matters ? 'warn' : 'good'}>
                    {matters ? 'Corrected: wording matters' : 'Corrected: wording doesn’t matter'}
                  </Badge>
                )}
                {context && (
                  <>
                    <span className="text-xs text-muted">
                      {formatPlural(context.misses, 'request')}, first {formatAgo(context.first_at)}, last{' '}
                      {formatAgo(context.last_at)}
                    </span>
                    <TextLink
                      to={`/${project.id}/requests`}
                      search={{ request: context.last_request_id }}
                      className="text-xs"
                    >
                      View request
                    </TextLink>
                  </>
                )}
              </span>
              {hasRole(project, 'member') && (
                <RowButton disabled={saving.isPending} onClick={() => correct(hash, matters ? 'question' : 'wording')}>
                  {matters ? 'Wording doesn’t matter here' : 'Wording matters here'}
                </RowButton>
              )}
            </li>
          )
        })}
      </ul>
      <ErrorMessage error={saving.error} />
    </Card>
  )
}
