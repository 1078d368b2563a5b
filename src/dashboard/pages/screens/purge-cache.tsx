/** The purge dialog: deletes the cached responses that match a filter, and shows their number first. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sendRequest } from '../api.ts'
import { Dialog } from '../components/dialog.tsx'
import { Button, ErrorMessage } from '../components/elements.tsx'
import { SelectField, TextField } from '../components/fields.tsx'
import { Picker } from '../components/picker.tsx'
import { searchModels, searchNames } from '../components/picker-sources.ts'
import { formatPlural } from '../format.ts'

const AGES = [
  ['', 'Any age'],
  ['3600', 'Older than an hour'],
  ['86400', 'Older than a day'],
  ['604800', 'Older than a week'],
] as const

export function PurgeCache({ projectId, onDone, onClose }: { projectId: string; onDone(): void; onClose(): void }) {
  const [model, setModel] = useState('')
  const [namespace, setNamespace] = useState('')
  const [version, setVersion] = useState('')
  const [user, setUser] = useState('')
  const [key, setKey] = useState('')
  const [age, setAge] = useState('')
  const selector = {
    ...(model.trim() === '' ? {} : { model: model.trim() }),
    ...(namespace.trim() === '' ? {} : { namespace: namespace.trim() }),
    ...(version.trim() === '' ? {} : { version: version.trim() }),
    ...(user === '' ? {} : { end_user: user }),
    ...(key === '' ? {} : { api_key_id: key }),
    ...(age === '' ? {} : { older_than_seconds: Number(age) }),
  }
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
        <Picker
          label="Model"
          placeholder="Any model"
          {...searchModels(projectId)}
          values={valuesOf(model)}
          onChange={([chosen = '']) => setModel(chosen)}
        />
        <TextField label="Namespace" placeholder="Any namespace" value={namespace} onChange={setNamespace} />
        <TextField label="Version" placeholder="Any version, or docs@42" value={version} onChange={setVersion} />
        <Picker
          label="End user"
          placeholder="Any user"
          hint="Selects responses that were created by this user’s requests; other users may have received them since."
          {...searchNames('end_user', projectId)}
          allowsNew
          values={valuesOf(user)}
          onChange={([chosen = '']) => setUser(chosen)}
        />
        <Picker
          label="API key"
          placeholder="Any key"
          {...searchNames('api_key', projectId)}
          values={valuesOf(key)}
          onChange={([chosen = '']) => setKey(chosen)}
        />
        <SelectField label="Age" value={age} choices={AGES} onChange={setAge} />
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

/** Returns the value of a picker; '' stands for none. */
const valuesOf = (value: string) => (value === '' ? [] : [value])

/** Describes the number of cached responses, and of cached embeddings if there are any. */
function describeCounts({ entries, vectors }: { entries: number; vectors: number }): string {
  const responses = formatPlural(entries, 'cached response')
  return vectors === 0 ? responses : `${responses} and ${formatPlural(vectors, 'cached embedding')}`
}
