/** Purges the cache: shows how many entries match before any is deleted. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api.ts'
import { Button, Problem } from '../components/basics.tsx'
import { Dialog } from '../components/dialog.tsx'
import { SelectField, TextField } from '../components/fields.tsx'
import { formatCount } from '../format.ts'

const AGES = [
  ['', 'Of any age'],
  ['3600', 'Older than an hour'],
  ['86400', 'Older than a day'],
  ['604800', 'Older than a week'],
] as const

export function PurgeCache({ projectId, onDone, onClose }: { projectId: string; onDone(): void; onClose(): void }) {
  const [model, setModel] = useState('')
  const [namespace, setNamespace] = useState('')
  const [age, setAge] = useState('')
  const selector = {
    ...(model.trim() === '' ? {} : { model: model.trim() }),
    ...(namespace.trim() === '' ? {} : { namespace: namespace.trim() }),
    ...(age === '' ? {} : { older_than_seconds: Number(age) }),
  }
  const invalidate = (isDry: boolean) =>
    call<{ entries: number }>('POST', '/v1/cache/invalidate', { project_id: projectId, selector, dry_run: isDry })
  const dry = useQuery({
    queryKey: ['purge', projectId, selector],
    queryFn: () => invalidate(true),
    staleTime: 0,
    gcTime: 0,
  })
  const purging = useMutation({ mutationFn: () => invalidate(false), onSuccess: onDone })
  const count = dry.data?.entries
  return (
    <Dialog title="Purge the cache" onClose={onClose}>
      <div className="space-y-4">
        <TextField label="Model" placeholder="Any model" value={model} onChange={setModel} />
        <TextField label="Namespace" placeholder="Any namespace" value={namespace} onChange={setNamespace} />
        <SelectField label="Age" value={age} choices={AGES} onChange={setAge} />
        <p role="status" className="rounded-lg bg-sunken px-3 py-2">
          {count === undefined
            ? 'Counting…'
            : `${formatCount(count)} ${count === 1 ? 'answer fits' : 'answers fit'}. Nothing has been forgotten yet.`}
        </p>
        <Problem error={dry.error ?? purging.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" disabled={!count || purging.isPending} onClick={() => purging.mutate()}>
            Forget {count === undefined ? '' : formatCount(count)} {count === 1 ? 'answer' : 'answers'}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
