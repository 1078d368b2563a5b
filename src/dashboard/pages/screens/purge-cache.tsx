/** The purge dialog: deletes the cached responses that match a filter, and shows their number first. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sendRequest } from '../api.ts'
import { Dialog } from '../components/dialog.tsx'
import { Button, ErrorMessage } from '../components/elements.tsx'
import { FormField, type FormValues } from '../components/form.tsx'
import { Picker } from '../components/picker.tsx'
import { searchModels, searchNames } from '../components/picker-sources.ts'
import { formatPlural } from '../format.ts'

const AGES = [
  ['', 'Any age'],
  ['3600', 'Older than an hour'],
  ['86400', 'Older than a day'],
  ['604800', 'Older than a week'],
] as const

/** The filters, by their names in the API. An empty one selects everything. */
function listFields(projectId: string): FormField[] {
  return [
    { name: 'model', label: 'Model', placeholder: 'Any model', picker: searchModels(projectId) },
    { name: 'namespace', label: 'Namespace', placeholder: 'Any namespace' },
    { name: 'version', label: 'Version', placeholder: 'Any version, or docs@42' },
    {
      name: 'end_user',
      label: 'End user',
      placeholder: 'Any user',
      hint: 'Selects responses that were created by this user’s requests; other users may have received them since.',
      picker: { ...searchNames('end_user', projectId), allowsNew: true },
      read: text => text,
    },
    { name: 'api_key_id', label: 'API key', placeholder: 'Any key', picker: searchNames('api_key', projectId) },
    { name: 'older_than_seconds', label: 'Age', choices: AGES, read: text => text && Number(text) },
  ]
}

export function PurgeCache({ projectId, onDone, onClose }: { projectId: string; onDone(): void; onClose(): void }) {
  const [values, setValues] = useState<FormValues>({})
  const fields = listFields(projectId)
  const read = fields.map(({ name, read = text => text.trim() }) => [name, read(values[name] ?? '')] as const)
  const selector = Object.fromEntries(read.filter(([, value]) => value !== ''))
  const invalidate = (isDryRun: boolean) =>
    sendRequest<{ entries: number; vectors: number }>('POST', '/v1/cache/invalidate', {
      project_id: projectId,
      selector,
      dry_run: isDryRun,
    })
  const preview = useQuery({
    queryKey: ['purge', projectId, selector],
    queryFn: () => invalidate(true),
    staleTime: 0,
    gcTime: 0,
  })
  const purging = useMutation({ mutationFn: () => invalidate(false), onSuccess: onDone })
  const count = preview.data && preview.data.entries + preview.data.vectors
  const summary = preview.data && describeCounts(preview.data)
  return (
    <Dialog title="Purge cache" onClose={onClose}>
      <div className="space-y-4">
        {fields.map(field => (
          <FormField
            key={field.name}
            field={{ ...field, required: false }}
            Picker={Picker}
            value={values[field.name] ?? ''}
            onChange={value => setValues({ ...values, [field.name]: value })}
          />
        ))}
        <p role="status" className="rounded-lg bg-sunken px-3 py-2">
          {count === undefined
            ? 'Counting…'
            : `${summary} ${count === 1 ? 'matches' : 'match'}. Nothing has been deleted yet.`}
        </p>
        <ErrorMessage error={preview.error ?? purging.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" disabled={!count || purging.isPending} onClick={() => purging.mutate()}>
            Delete {summary}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

/** Describes the number of cached responses, and of cached embeddings if there are any. */
function describeCounts({ entries, vectors }: { entries: number; vectors: number }): string {
  const responses = formatPlural(entries, 'cached response')
  return vectors === 0 ? responses : `${responses} and ${formatPlural(vectors, 'cached embedding')}`
}
