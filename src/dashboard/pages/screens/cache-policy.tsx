/** The pages “Cache and models”: one field for each project setting that the server describes, in pages by purpose. */
import { useBlocker, useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { FormDialog } from '../components/dialog.tsx'
import { Button, Card, ErrorMessage, PageHeader, Pending, Warnings } from '../components/elements.tsx'
import { SettingField } from '../components/setting-fields.tsx'
import { Tab, Tabs } from '../components/tabs.tsx'
import { findPolicyPage, POLICY_PAGES, type PolicyPage, settingsOfPage } from '../policy-pages.ts'
import { hasRole, useProject } from '../session.ts'
import { formatFieldValue } from '../setting-values.ts'
import { useSettingEffects, useSettings, useUpdateSettings } from '../settings.ts'
import type { Project } from '../types.ts'
import { ContextCorrections } from './context-corrections.tsx'
import { JudgeSuggestion } from './judge-suggestion.tsx'

export default function CachePolicy() {
  const project = useProject()
  const { page: name } = useParams({ strict: false })
  const page = findPolicyPage(name)
  if (!page) return <PageHeader title="Page not found">Choose a page from the menu.</PageHeader>
  return (
    <>
      <PageHeader title="Cache and models">{page.help} Changes apply to the next request.</PageHeader>
      {project && (
        <>
          <PolicyNavigation projectId={project.id} current={page.name} />
          <PolicyForm key={`${project.id} ${page.name}`} project={project} page={page} />
        </>
      )}
    </>
  )
}

function PolicyNavigation({ projectId, current }: { projectId: string; current: string }) {
  return (
    <Tabs label="Cache and models">
      {POLICY_PAGES.map(({ name, title }) => (
        <Tab key={name} to={`/${projectId}/settings/policy${name && `/${name}`}`} isActive={name === current}>
          {title}
        </Tab>
      ))}
    </Tabs>
  )
}

function PolicyForm({ project, page }: { project: Project; page: PolicyPage }) {
  const projectId = project.id
  const canEdit = hasRole(project, 'member')
  const current = useSettings(projectId)
  const saving = useUpdateSettings(projectId)
  const effects = useSettingEffects(projectId)
  const [draft, setDraft] = useState<Record<string, string>>({})
  if (current.data === undefined) return <Pending error={current.error} />
  const { settings, kinds, warnings } = current.data
  const isChanged = Object.entries(draft).some(([name, value]) => value !== formatFieldValue(settings[name]))
  function submit(event: FormEvent) {
    event.preventDefault()
    saving.mutate(draft, { onSuccess: () => setDraft({}) })
  }
  return (
    <>
      <div className="mb-5 empty:hidden">
        <Warnings warnings={warnings} />
      </div>
      {page.name === '' && (
        <>
          {canEdit && <JudgeSuggestion project={project} settings={settings} />}
          <div className="mb-5 empty:hidden">
            <ContextCorrections project={project} settings={settings} />
          </div>
        </>
      )}
      <form onSubmit={submit} className="space-y-5">
        {settingsOfPage(page, kinds).map(([area, kindsInArea]) => (
          <Card key={area} title={area}>
            <div className="grid gap-x-6 gap-y-5 p-4 *:min-w-0 sm:grid-cols-2">
              {kindsInArea.map(kind => (
                <SettingField
                  key={kind.name}
                  kind={kind}
                  value={draft[kind.name] ?? formatFieldValue(settings[kind.name])}
                  disabled={!canEdit}
                  effects={effects.data}
                  onChange={value => setDraft(before => ({ ...before, [kind.name]: value }))}
                />
              ))}
            </div>
          </Card>
        ))}
        <ErrorMessage error={saving.error} />
        {canEdit && (
          <div
            className={`print:hidden flex flex-wrap items-center justify-end gap-3 ${isChanged ? 'sticky bottom-0 border-t border-line bg-canvas py-3' : ''}`}
          >
            <span role="status" className="text-xs text-muted">
              {saving.isSuccess && !isChanged ? 'Saved. Changes apply to the next request.' : ''}
            </span>
            {isChanged && <Button onClick={() => setDraft({})}>Discard changes</Button>}
            <Button type="submit" look="primary" disabled={!isChanged || saving.isPending}>
              Save settings
            </Button>
          </div>
        )}
      </form>
      {/* Outside the form, because the dialog has a form of its own. */}
      <UnsavedChangesGuard isChanged={isChanged} />
    </>
  )
}

/** Asks for confirmation before a link or closing the page discards unsaved changes. */
function UnsavedChangesGuard({ isChanged }: { isChanged: boolean }) {
  const leaving = useBlocker({
    shouldBlockFn: () => isChanged,
    enableBeforeUnload: isChanged,
    withResolver: true,
  })
  if (leaving.status !== 'blocked') return null
  return (
    <FormDialog
      title="Discard unsaved changes?"
      action="Discard changes"
      text="Your changes have not been saved."
      sending={{ mutate: leaving.proceed, isPending: false, error: null }}
      onClose={leaving.reset}
    />
  )
}
