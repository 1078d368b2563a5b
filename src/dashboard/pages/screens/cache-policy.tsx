/** The settings by which a project's cache decides. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { call, get } from '../api.ts'
import { Button, Card, Loading, Problem, SelectField, TextField } from '../components/basics.tsx'
import type { Settings } from '../types.ts'

/** What each setting is, in the order of the form; one that the server does not have is left out. */
const FIELDS: {
  name: string
  label: string
  hint: string
  choices?: [string, string][]
  range?: { min: number; max: number; step: number }
}[] = [
  {
    name: 'semantic_enabled',
    label: 'Semantic hits',
    hint: 'Whether a differently worded question may be answered from the cache.',
    choices: [
      ['true', 'On'],
      ['false', 'Off'],
    ],
  },
  {
    name: 'semantic_guards',
    label: 'Guards',
    hint: 'Numbers, names, negation and more: where they differ, the answer is not served. Off serves wrong answers sooner or later.',
    choices: [
      ['true', 'On (recommended)'],
      ['false', 'Off'],
    ],
  },
  {
    name: 'semantic_threshold',
    label: 'Similarity threshold',
    hint: 'Cosine similarity above which a stored question is looked at: 0 to 1.',
    range: { min: 0, max: 1, step: 0.001 },
  },
  {
    name: 'cache_ttl_seconds',
    label: 'Time to live, in seconds',
    hint: 'How long an answer stays, unless the request says otherwise. 604800 is a week.',
    range: { min: 0, max: 315_360_000, step: 1 },
  },
]

export function CachePolicy({ projectId, mayChange }: { projectId: string; mayChange: boolean }) {
  const path = `/v1/organization/projects/${projectId}/settings`
  const queries = useQueryClient()
  const current = useQuery({ queryKey: [path], queryFn: () => get<Settings>(path).then(answer => answer.settings) })
  const [draft, setDraft] = useState<Record<string, string>>({})
  useEffect(() => setDraft({}), [projectId])
  const saving = useMutation({
    mutationFn: () => call<Settings>('POST', path, draft),
    onSuccess: answer => {
      queries.setQueryData([path], answer.settings)
      setDraft({})
    },
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    saving.mutate()
  }
  if (current.error) return <Problem error={current.error} />
  if (current.data === undefined) return <Loading />
  const settings = current.data
  const isChanged = Object.entries(draft).some(([name, value]) => value !== String(settings[name]))
  return (
    <Card title="Policy">
      <form onSubmit={submit} className="space-y-4 p-4">
        <div className="grid gap-x-6 gap-y-4 sm:grid-cols-2">
          {FIELDS.filter(({ name }) => name in settings).map(field => (
            <PolicyField
              key={field.name}
              field={field}
              value={draft[field.name] ?? String(settings[field.name])}
              disabled={!mayChange}
              onChange={value => setDraft({ ...draft, [field.name]: value })}
            />
          ))}
        </div>
        <Problem error={saving.error} />
        {mayChange && (
          <div className="flex items-center justify-end gap-3">
            <span role="status" className="text-xs text-muted">
              {saving.isSuccess && !isChanged ? 'Saved: it holds from the next request on.' : ''}
            </span>
            {isChanged && <Button onClick={() => setDraft({})}>Discard</Button>}
            <Button type="submit" look="primary" disabled={!isChanged || saving.isPending}>
              Save policy
            </Button>
          </div>
        )}
      </form>
    </Card>
  )
}

interface PolicyFieldProps {
  field: (typeof FIELDS)[number]
  value: string
  disabled: boolean
  onChange(value: string): void
}

function PolicyField({ field: { label, hint, choices, range }, value, disabled, onChange }: PolicyFieldProps) {
  const common = { label, hint, value, disabled }
  if (choices) {
    return (
      <SelectField {...common} onChange={event => onChange(event.target.value)}>
        {choices.map(([choice, title]) => (
          <option key={choice} value={choice}>
            {title}
          </option>
        ))}
      </SelectField>
    )
  }
  return <TextField {...common} {...range} type="number" required onChange={event => onChange(event.target.value)} />
}
