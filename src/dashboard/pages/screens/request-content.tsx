/** What a request said and got, where it is kept. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button, Card, ErrorMessage, Loading } from '../components/elements.tsx'
import { escapeControlCharacters } from '../format.ts'
import { hasRole, useProject } from '../session.ts'
import type { RequestLogEntry } from '../types.ts'

/** What was said, for members, once they ask for it. */
export function RequestContent({ request, projectId }: { request: RequestLogEntry; projectId: string }) {
  const project = useProject()
  const [isAsked, setAsked] = useState(false)
  const content = useQuery<{ request: string | null; response: string | null }>({
    queryKey: [`/v1/requests/${request.id}/content`, { project_id: projectId }],
    enabled: isAsked,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (!hasRole(project, 'member')) return null
  return (
    <Card
      title="What it said and got"
      action={!isAsked && <Button onClick={() => setAsked(true)}>Show the content</Button>}
    >
      {isAsked && (
        <div className="space-y-4 p-4">
          <ErrorMessage error={content.error} />
          {content.isLoading && <Loading />}
          {content.data && (
            <>
              <Text title="Request" text={content.data.request} />
              <Text title="Answer" text={content.data.response} />
            </>
          )}
        </div>
      )}
    </Card>
  )
}

function Text({ title, text }: { title: string; text: string | null }) {
  return (
    <div>
      <h3 className="text-xs text-muted">{title}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section tabIndex={0} aria-label={title} className="mt-1 max-h-96 overflow-auto">
        <pre dir="auto" className="font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
          {text === null ? 'Not kept.' : escapeControlCharacters(indent(text))}
        </pre>
      </section>
    </div>
  )
}

/** JSON over several lines; other text as it is. */
function indent(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
