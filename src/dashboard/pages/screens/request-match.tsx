/** The comparison that decided a request's cache result, on the page of the request. */
import { useQuery } from '@tanstack/react-query'
import { Card } from '../components/elements.tsx'
import { useProject } from '../session.ts'
import type { ApiPage, CacheMatch, RequestLogEntry } from '../types.ts'
import { Match } from './cache-match.tsx'

/** Renders nothing for a request of which no comparison is listed. */
export function RequestMatch({ request }: { request: RequestLogEntry }) {
  const project = useProject()
  const isHit = request.cache_result === 'HIT-SEMANTIC'
  const { data } = useQuery<ApiPage<CacheMatch>>({
    queryKey: [
      `/v1/cache/${isHit ? 'matches' : 'near_misses'}`,
      { project_id: project?.id, request_id: request.request_id, limit: 1 },
    ],
    enabled: project !== null && request.similarity !== null,
  })
  const match = data?.data[0]
  if (!project || !match) return null
  return (
    <Card title="Compared questions">
      <div className="space-y-3 p-4">
        <Match match={match} project={project} isOnRequest />
      </div>
    </Card>
  )
}
