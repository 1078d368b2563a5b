/** The cache page: statistics, semantic matches, verdicts, cached responses, and the purge dialog. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button, ErrorMessage, PageHeader, TextLink } from '../components/elements.tsx'
import { Figure, Figures } from '../components/figures.tsx'
import { Tab, Tabs } from '../components/tabs.tsx'
import { useFilters, useOpenedByLink } from '../filters.ts'
import { formatBytes, formatCount } from '../format.ts'
import { useInvalidateQueries } from '../queries.ts'
import { hasRole, useProject } from '../session.ts'
import type { CacheStats, Project } from '../types.ts'
import { CacheEntries } from './cache-entries.tsx'
import { CacheScopeCard } from './cache-scope-card.tsx'
import { PurgeCache } from './purge-cache.tsx'
import { SemanticMatches } from './semantic-matches.tsx'
import { SimilarityCalibration } from './similarity-calibration.tsx'
import { Verdicts } from './verdicts.tsx'

const VIEWS = [
  ['matches', 'Semantic hits'],
  ['near-misses', 'Near misses'],
  ['verdicts', 'Verdicts'],
  ['similarity', 'Threshold simulation'],
  ['answers', 'Cached responses'],
  ['sharing', 'Sharing scope'],
] as const

export default function Cache() {
  const project = useProject()
  const refresh = useInvalidateQueries(['/v1/cache'])
  const [filters] = useFilters()
  const [isPurging, setPurging] = useState(false)
  const canPurge = hasRole(project, 'member')
  useOpenedByLink(['purge'], () => setPurging(true), canPurge)
  const view = VIEWS.find(([name]) => name === filters.view)?.[0] ?? 'matches'
  const stats = useQuery<CacheStats>({
    queryKey: ['/v1/cache/stats', { project_id: project?.id }],
    enabled: project !== null,
    refetchInterval: 10_000,
  })

  return (
    <>
      <PageHeader
        title="Cache"
        action={
          canPurge && (
            <Button look="danger" onClick={() => setPurging(true)}>
              Purge cache
            </Button>
          )
        }
      >
        Responses that are served again instead of being paid for again.{' '}
        {project && <TextLink to={`/${project.id}/settings/policy`}>View settings</TextLink>}
      </PageHeader>
      <ErrorMessage error={stats.error} />
      <div className="space-y-5">
        <Stats stats={stats.data} />
        <Tabs label="View">
          {VIEWS.map(([name, title]) => (
            <Tab
              key={name}
              to={`/${project?.id}/cache`}
              search={name === 'matches' ? {} : { view: name }}
              isActive={name === view}
            >
              {title}
            </Tab>
          ))}
        </Tabs>
        {project && <ViewContent key={`${project.id} ${view}`} project={project} view={view} />}
      </div>
      {isPurging && project && (
        <PurgeCache
          projectId={project.id}
          onDone={() => {
            setPurging(false)
            void refresh()
          }}
          onClose={() => setPurging(false)}
        />
      )}
    </>
  )
}

function ViewContent({ project, view }: { project: Project; view: (typeof VIEWS)[number][0] }) {
  switch (view) {
    case 'verdicts':
      return <Verdicts project={project} />
    case 'similarity':
      return <SimilarityCalibration project={project} />
    case 'sharing':
      return <CacheScopeCard project={project} />
    case 'answers':
      return <CacheEntries project={project} />
    default:
      return <SemanticMatches project={project} kind={view} />
  }
}

function Stats({ stats }: { stats: CacheStats | undefined }) {
  return (
    <Figures columns={4}>
      <Figure
        title="Cached responses"
        value={stats && formatCount(stats.entries)}
        note={stats && `${formatCount(stats.expired)} expired, awaiting deletion`}
      />
      <Figure title="Stored size" value={stats && formatBytes(stats.bytes)} note="in PostgreSQL" />
      <Figure
        title="Questions that can match"
        value={stats && formatCount(stats.prompts)}
        note={stats && `${formatCount(stats.with_vector)} with an embedding`}
      />
      <Figure title="Cached embeddings" value={stats && formatCount(stats.vectors)} note="reused at no cost" />
    </Figures>
  )
}
