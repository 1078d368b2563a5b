/** The settings of a project: a field for each of the settings that the server knows. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call, get } from '../api.ts'
import { Button, Card, Loading, Problem } from '../components/basics.tsx'
import { SettingField } from '../components/setting-fields.tsx'
import type { Settings } from '../types.ts'

const settingsPath = (projectId: string) => `/v1/organization/projects/${projectId}/settings`

export function useSettings(projectId: string) {
  const path = settingsPath(projectId)
  return useQuery({ queryKey: [path], queryFn: () => get<Settings>(path) })
}

/** Changes settings by name. */
export function useChangeSettings(projectId: string) {
  const path = settingsPath(projectId)
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (changes: Record<string, string>) => call<Settings>('POST', path, changes),
    onSuccess: answer => queries.setQueryData([path], answer),
  })
}

export function CachePolicy({ projectId, mayChange }: { projectId: string; mayChange: boolean }) {
  const current = useSettings(projectId)
  const saving = useChangeSettings(projectId)
  const [draft, setDraft] = useState<Record<string, string>>({})
  if (current.error) return <Problem error={current.error} />
  if (current.data === undefined) return <Loading />
  const { settings, kinds } = current.data
  const isChanged = Object.entries(draft).some(([name, value]) => value !== asText(settings[name]))
  function submit(event: FormEvent) {
    event.preventDefault()
    saving.mutate(draft, { onSuccess: () => setDraft({}) })
  }
  return (
    <form onSubmit={submit} className="space-y-5">
      {[...Map.groupBy(kinds, kind => kind.area)].map(([area, ofArea]) => (
        <Card key={area} title={area}>
          <div className="grid gap-x-6 gap-y-5 p-4 sm:grid-cols-2">
            {ofArea.map(kind => (
              <SettingField
                key={kind.name}
                kind={kind}
                value={draft[kind.name] ?? asText(settings[kind.name])}
                disabled={!mayChange}
                onChange={value => setDraft(before => ({ ...before, [kind.name]: value }))}
              />
            ))}
          </div>
        </Card>
      ))}
      <Problem error={saving.error} />
      {mayChange && (
        <div className="sticky bottom-0 flex flex-wrap items-center justify-end gap-3 border-t border-line bg-canvas py-3">
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
  )
}

/** Lists are edited as comma-separated text. */
function asText(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : String(value ?? '')
}
