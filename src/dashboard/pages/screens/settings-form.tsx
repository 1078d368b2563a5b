/** A form of project settings, as the server describes them. Its draft is saved as a whole. */
import { useBlocker } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useState } from 'react'
import { FormDialog } from '../components/dialog.tsx'
import { Button, ErrorMessage } from '../components/elements.tsx'
import { SettingField } from '../components/setting-fields.tsx'
import { hasRole } from '../session.ts'
import { formatFieldValue } from '../setting-values.ts'
import { useUpdateSettings } from '../settings.ts'
import type { Project, SettingEffects, SettingKind, Settings } from '../types.ts'

interface SettingsFormProps {
  project: Project
  settings: Settings['settings']
  effects?: SettingEffects | undefined
  className: string
  /** The label of the submit button. */
  save: string
  /** Shown after the settings were saved. */
  saved: string
  /** Whether the form is the page: unsaved changes keep its buttons in view, and leaving the page has to be confirmed. */
  isPage?: boolean
  /** `fields` renders the fields of settings, in two columns. */
  children(fields: (kinds: readonly SettingKind[]) => ReactNode): ReactNode
}

export function SettingsForm(props: SettingsFormProps) {
  const { project, settings, effects, className, save, saved, isPage = false, children } = props
  const canEdit = hasRole(project, 'member')
  const saving = useUpdateSettings(project.id)
  const [draft, setDraft] = useState<Record<string, string>>({})
  const isChanged = Object.entries(draft).some(([name, value]) => value !== formatFieldValue(settings[name]))
  function submit(event: FormEvent) {
    event.preventDefault()
    saving.mutate(draft, { onSuccess: () => setDraft({}) })
  }
  const fields = (kinds: readonly SettingKind[]) => (
    <div className="grid gap-x-6 gap-y-5 *:min-w-0 sm:grid-cols-2">
      {kinds.map(kind => (
        <SettingField
          key={kind.name}
          kind={kind}
          value={draft[kind.name] ?? formatFieldValue(settings[kind.name])}
          disabled={!canEdit}
          effects={effects}
          onChange={value => setDraft(before => ({ ...before, [kind.name]: value }))}
        />
      ))}
    </div>
  )
  return (
    <>
      <form onSubmit={submit} className={className}>
        {children(fields)}
        <ErrorMessage error={saving.error} />
        {canEdit && (
          <div
            className={`print:hidden flex flex-wrap items-center justify-end gap-3 ${isPage && isChanged ? 'sticky bottom-0 border-t border-line bg-canvas py-3' : ''}`}
          >
            <span role="status" className="text-xs text-muted">
              {saving.isSuccess && !isChanged ? saved : ''}
            </span>
            {isChanged && <Button onClick={() => setDraft({})}>Discard changes</Button>}
            <Button type="submit" look="primary" disabled={!isChanged || saving.isPending}>
              {save}
            </Button>
          </div>
        )}
      </form>
      {/* Outside the form, because the dialog has a form of its own. */}
      {isPage && <UnsavedChangesGuard isChanged={isChanged} />}
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
