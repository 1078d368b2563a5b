/** The page of one request: result, errors, timing, cost, and all recorded fields. */
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { PageHeader, Pending, TextLink } from '../components/elements.tsx'
import { formatTime, isolateDirection } from '../format.ts'
import { useProject } from '../session.ts'
import type { RequestLogEntry } from '../types.ts'
import { RequestSummary } from './request-summary.tsx'

export default function RequestDetails() {
  const project = useProject()
  const { request: id = '' } = useParams({ strict: false })
  const request = useQuery<RequestLogEntry>({
    queryKey: [`/v1/requests/${id}`, { project_id: project?.id }],
    enabled: project !== null,
    // A finished request does not change.
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <>
      <PageHeader
        title="Request details"
        action={
          <TextLink to={`/${project?.id}/requests`} search={true} className="font-medium">
            All requests
          </TextLink>
        }
      >
        {request.data &&
          [request.data.model || 'unknown model', request.data.key_name, formatTime(request.data.recorded_at)]
            .filter(part => part !== null)
            .map(part => isolateDirection(part))
            .join(' · ')}
      </PageHeader>
      {request.data ? (
        <RequestSummary request={request.data} projectId={project?.id ?? ''} />
      ) : (
        <Pending error={request.error} />
      )}
    </>
  )
}
