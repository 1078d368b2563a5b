/** Downloads an export of the admin API as a file, and shows the progress. */
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { ApiError, formatQueryString, parseError, type QueryParameters } from '../api.ts'
import { formatBytes } from '../format.ts'
import { Button, ErrorMessage } from './elements.tsx'

export function ExportButtons({ path, query, name }: { path: string; query: QueryParameters; name: string }) {
  const [bytes, setBytes] = useState(0)
  const aborting = useRef<AbortController | null>(null)
  const saving = useMutation({
    mutationFn: async (format: 'csv' | 'json') => {
      const abort = new AbortController()
      aborting.current = abort
      setBytes(0)
      const url = `${path}${formatQueryString({ ...query, format })}`
      save(await download(url, abort.signal, setBytes), `${name}.${format}`)
    },
  })
  const { error } = saving
  return (
    <div className="flex flex-wrap items-center gap-2">
      {saving.isPending ? (
        <>
          <span role="status" className="text-xs text-muted">
            {formatBytes(bytes)} downloaded
          </span>
          <Button onClick={() => aborting.current?.abort()}>Cancel</Button>
        </>
      ) : (
        (['csv', 'json'] as const).map(format => (
          <Button key={format} onClick={() => saving.mutate(format)}>
            Export {format.toUpperCase()}
          </Button>
        ))
      )}
      {error && error.name !== 'AbortError' && <ErrorMessage error={error} />}
    </div>
  )
}

async function download(path: string, signal: AbortSignal, onBytes: (bytes: number) => void): Promise<Blob> {
  const response = await fetch(path, { signal })
  if (!response.ok || !response.body) throw await parseError(response, 'The export failed.')
  const parts: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  const reader = response.body.getReader()
  for (;;) {
    const { done, value } = await reader.read().catch(error => {
      if (signal.aborted) throw error
      throw new ApiError(0, 'export', 'The export was interrupted and nothing was saved. Try again.')
    })
    if (done) break
    parts.push(value)
    bytes += value.length
    onBytes(bytes)
  }
  return new Blob(parts, { type: response.headers.get('content-type') ?? '' })
}

function save(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
