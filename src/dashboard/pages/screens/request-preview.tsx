/** The selected request, at the side of the list. */
import { Link } from '@tanstack/react-router'
import { formatTime } from '../format.ts'
import type { RequestLogEntry } from '../types.ts'
import { RequestSummary } from './request-summary.tsx'

interface RequestPreviewProps {
  request: RequestLogEntry
  projectId: string
  onClose(): void
}

export function RequestPreview({ request, projectId, onClose }: RequestPreviewProps) {
  return (
    <section
      aria-label="Preview"
      className="sticky top-4 max-h-[calc(100dvh-2rem)] min-w-0 overflow-y-auto rounded-xl border border-line bg-canvas"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
    >
      <header className="sticky top-0 z-10 flex items-center justify-between gap-3 border-b border-line bg-surface px-4 py-2">
        <h2 className="font-semibold">{formatTime(request.recorded_at)}</h2>
        <span className="flex items-center gap-3">
          <Link
            to={`/${projectId}/requests/${request.id}` as never}
            search={(filters: object) => filters as never}
            className="font-medium text-accent underline"
          >
            Open
          </Link>
          <button
            type="button"
            onClick={onClose}
            aria-label="Close preview"
            className="size-7 rounded-md text-lg leading-none text-muted hover:bg-sunken hover:text-ink"
          >
            ×
          </button>
        </span>
      </header>
      <div className="p-3">
        <RequestSummary key={request.id} request={request} projectId={projectId} />
      </div>
      <p className="px-4 pb-3 text-xs text-muted">
        <kbd>↑</kbd> <kbd>↓</kbd> move · <kbd>Enter</kbd> opens · <kbd>Esc</kbd> closes
      </p>
    </section>
  )
}
