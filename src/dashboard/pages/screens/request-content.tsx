/** The stored text of a request and its response. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button, Card, Pending } from '../components/elements.tsx'
import { escapeControlCharacters } from '../format.ts'
import { hasRole, useProject } from '../session.ts'
import type { RequestLogEntry } from '../types.ts'

/** Shows the text to members of the project. It is fetched only on demand. */
export function RequestContent({ request, projectId }: { request: RequestLogEntry; projectId: string }) {
  const project = useProject()
  const [isOpen, setOpen] = useState(false)
  const content = useQuery<{ request: string | null; response: string | null }>({
    queryKey: [`/v1/requests/${request.id}/content`, { project_id: projectId }],
    enabled: isOpen,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (!hasRole(project, 'member')) return null
  return (
    <Card title="Request and response" action={!isOpen && <Button onClick={() => setOpen(true)}>Show content</Button>}>
      {isOpen && (
        <div className="space-y-4 p-4">
          {content.data ? (
            <>
              <Text title="Request" text={content.data.request} />
              <Text title="Response" text={content.data.response} />
            </>
          ) : (
            <Pending error={content.error} />
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
          {text === null ? 'Not stored.' : escapeControlCharacters(indentJson(text))}
        </pre>
      </section>
    </div>
  )
}

/** Indents JSON. Other text is returned unchanged. */
function indentJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
