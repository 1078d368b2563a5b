/** What a project's cache may serve, and which models it may use: a field for each of the settings that the server knows. */
import { useBlocker } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Button, Card, ErrorMessage, Loading, PageHeader, Warnings } from '../components/elements.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { SettingField } from '../components/setting-fields.tsx'
import { hasRole, useProject } from '../session.ts'
import { useSettings, useUpdateSettings } from '../settings.ts'
import type { Project } from '../types.ts'
import { JudgeSuggestion } from './judge-suggestion.tsx'

export default function CachePolicy() {
  const project = useProject()
  return (
    <>
      <PageHeader title="Policy">
        What the cache may serve, and which models may be asked. Changes apply from the next request on.
      </PageHeader>
      {project && <PolicyForm key={project.id} project={project} />}
    </>
  )
}

function PolicyForm({ project }: { project: Project }) {
  const projectId = project.id
  const mayChange = hasRole(project, 'member')
  const current = useSettings(projectId)
  const saving = useUpdateSettings(projectId)
  const [draft, setDraft] = useState<Record<string, string>>({})
  if (current.error) return <ErrorMessage error={current.error} />
  if (current.data === undefined) return <Loading />
  const { settings, kinds, warnings } = current.data
  const isChanged = Object.entries(draft).some(([name, value]) => value !== asText(settings[name]))
  function submit(event: FormEvent) {
    event.preventDefault()
    saving.mutate(draft, { onSuccess: () => setDraft({}) })
  }
  return (
    <>
      <div className="mb-5 empty:hidden">
        <Warnings warnings={warnings} />
      </div>
      {mayChange && <JudgeSuggestion project={project} settings={settings} />}
      <form onSubmit={submit} className="space-y-5">
        {[...Map.groupBy(kinds, kind => kind.area)].map(([area, ofArea]) => (
          <Card key={area} title={area}>
            <div className="grid gap-x-6 gap-y-5 p-4 *:min-w-0 sm:grid-cols-2">
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
        <ErrorMessage error={saving.error} />
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
      {/* Beside the form: its question is a form of its own. */}
      <KeepDraft isChanged={isChanged} />
    </>
  )
}

/** Asks before changes that are not saved are left, by a link or by closing the page. */
function KeepDraft({ isChanged }: { isChanged: boolean }) {
  const leaving = useBlocker({
    shouldBlockFn: () => isChanged,
    enableBeforeUnload: isChanged,
    withResolver: true,
  })
  if (leaving.status !== 'blocked') return null
  return (
    <FormDialog
      title="Leave without saving?"
      action="Leave"
      text="Your changes to the policy are not saved."
      sending={{ mutate: leaving.proceed, isPending: false, error: null }}
      onClose={leaving.reset}
    />
  )
}

/** Lists are edited as comma-separated text. */
function asText(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : String(value ?? '')
}
