/** The page of one request: result, errors, timing, cost, and all recorded fields. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ErrorMessage, Loading, PageHeader } from '../components/elements.tsx'
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
          <Link
            to={`/${project?.id}/requests` as never}
            search={(filters: object) => filters as never}
            className="font-medium text-accent underline"
          >
            All requests
          </Link>
        }
      >
        {request.data &&
          [request.data.model || 'unknown model', request.data.key_name, formatTime(request.data.recorded_at)]
            .filter(part => part !== null)
            .map(part => isolateDirection(part))
            .join(' · ')}
      </PageHeader>
      <ErrorMessage error={request.error} />
      {request.data ? (
        <RequestSummary request={request.data} projectId={project?.id ?? ''} />
      ) : (
        !request.error && <Loading />
      )}
    </>
  )
}
