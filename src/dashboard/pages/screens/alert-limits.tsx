/** The limits at which usage raises an alert: project settings of the area Alerts. */
import { type FormEvent, useState } from 'react'
import { Button, Card, ErrorMessage, Pending } from '../components/elements.tsx'
import { SettingField } from '../components/setting-fields.tsx'
import { ALERTS_AREA } from '../policy-pages.ts'
import { hasRole } from '../session.ts'
import { useSettings, useUpdateSettings } from '../settings.ts'
import type { Project } from '../types.ts'

export function AlertLimits({ project }: { project: Project }) {
  const canEdit = hasRole(project, 'member')
  const current = useSettings(project.id)
  const saving = useUpdateSettings(project.id)
  const [draft, setDraft] = useState<Record<string, string>>({})
  if (current.data === undefined) {
    return (
      <Card title="Thresholds">
        <Pending error={current.error} />
      </Card>
    )
  }
  const { settings, kinds } = current.data
  const saved = (name: string) => String(settings[name])
  const isChanged = Object.entries(draft).some(([name, value]) => value !== saved(name))
  function submit(event: FormEvent) {
    event.preventDefault()
    saving.mutate(draft, { onSuccess: () => setDraft({}) })
  }
  return (
    <Card title="Thresholds">
      <form onSubmit={submit} className="space-y-4 p-4">
        <p className="text-muted">
          Usage is measured every minute. One message is sent when a threshold is reached, and one when the value has
          recovered by a fifth.
        </p>
        <div className="grid gap-x-6 gap-y-5 *:min-w-0 sm:grid-cols-2">
          {kinds
            .filter(({ area }) => area === ALERTS_AREA)
            .map(kind => (
              <SettingField
                key={kind.name}
                kind={kind}
                value={draft[kind.name] ?? saved(kind.name)}
                disabled={!canEdit}
                onChange={value => setDraft(before => ({ ...before, [kind.name]: value }))}
              />
            ))}
        </div>
        <ErrorMessage error={saving.error} />
        {canEdit && (
          <div className="flex flex-wrap items-center justify-end gap-3">
            <span role="status" className="text-xs text-muted">
              {saving.isSuccess && !isChanged ? 'Saved.' : ''}
            </span>
            {isChanged && <Button onClick={() => setDraft({})}>Discard changes</Button>}
            <Button type="submit" look="primary" disabled={!isChanged || saving.isPending}>
              Save thresholds
            </Button>
          </div>
        )}
      </form>
    </Card>
  )
}
