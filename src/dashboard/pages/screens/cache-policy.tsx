/** The pages “Cache and models”: one field for each project setting that the server describes, in pages by purpose. */
import { useParams } from '@tanstack/react-router'
import { Card, PageHeader, Pending, Warnings } from '../components/elements.tsx'
import { Tab, Tabs } from '../components/tabs.tsx'
import { findPolicyPage, POLICY_PAGES, type PolicyPage, settingsOfPage } from '../policy-pages.ts'
import { hasRole, useProject } from '../session.ts'
import { useSettingEffects, useSettings } from '../settings.ts'
import type { Project } from '../types.ts'
import { ContextCorrections } from './context-corrections.tsx'
import { JudgeSuggestion } from './judge-suggestion.tsx'
import { SettingsForm } from './settings-form.tsx'

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
  const current = useSettings(project.id)
  const effects = useSettingEffects(project.id)
  if (current.data === undefined) return <Pending error={current.error} />
  const { settings, kinds, warnings } = current.data
  return (
    <>
      <div className="mb-5 empty:hidden">
        <Warnings warnings={warnings} />
      </div>
      {page.name === '' && (
        <>
          {hasRole(project, 'member') && <JudgeSuggestion project={project} settings={settings} />}
          <div className="mb-5 empty:hidden">
            <ContextCorrections project={project} settings={settings} />
          </div>
        </>
      )}
      <SettingsForm
        project={project}
        settings={settings}
        effects={effects.data}
        className="space-y-5"
        save="Save settings"
        saved="Saved. Changes apply to the next request."
        isPage
      >
        {fields =>
          settingsOfPage(page, kinds).map(([area, kindsInArea]) => (
            <Card key={area} title={area}>
              <div className="p-4">{fields(kindsInArea)}</div>
            </Card>
          ))
        }
      </SettingsForm>
    </>
  )
}
