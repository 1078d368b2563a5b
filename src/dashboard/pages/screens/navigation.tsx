/** The menu: the project of the page, and links to all pages that the user can open, in titled sections. */
import { Link, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { FIELD_CLASS } from '../components/fields.tsx'
import { escapeControlCharacters } from '../format.ts'
import { MENU_SECTIONS, type MenuSection, PAGE_ENTRIES } from '../pages.ts'
import { isAdministrator, readLastProject, useProject, useProjects } from '../session.ts'
import type { Session } from '../types.ts'

const LINK = 'block rounded-lg px-3 py-1.5 text-muted hover:bg-sunken hover:text-ink lg:py-1'
const ACTIVE = { className: '!bg-accent-soft !text-accent-strong font-medium', 'aria-current': 'page' } as const
const PROJECT_SECTIONS: readonly MenuSection[] = ['monitor', 'build', 'settings']

export function Navigation({ session, onChosen }: { session: Session; onChosen: () => void }) {
  const { data } = useProjects()
  const { project: urlProject } = useParams({ strict: false })
  const id = urlProject ?? readLastProject(data ?? [])?.id
  const sections: readonly MenuSection[] = [
    ...(id === undefined ? [] : PROJECT_SECTIONS),
    ...(isAdministrator(session) ? (['organization'] as const) : []),
    'own',
  ]
  return (
    <nav aria-label="Pages" className="flex-1 space-y-3">
      {sections.map(section => (
        <PageLinks key={section} section={section} projectId={id} onChosen={onChosen} />
      ))}
    </nav>
  )
}

/** Lists the links of a section. Without a project, only those of sections for all projects are complete. */
export function listLinks(section: MenuSection, projectId = ''): { path: string; title: string }[] {
  return PAGE_ENTRIES.flatMap(({ path, link: [own, title] = ['', ''] }) =>
    own === section ? [{ path: path.replace('$project', projectId), title }] : [],
  )
}

interface PageLinksProps {
  section: MenuSection
  projectId: string | undefined
  onChosen: () => void
}

function PageLinks({ section, projectId, onChosen }: PageLinksProps) {
  const title = MENU_SECTIONS[section]
  return (
    <div>
      {title && (
        <p id={`menu-${section}`} className="px-3 pb-1 text-xs font-medium text-muted">
          {title}
        </p>
      )}
      <ul aria-labelledby={title && `menu-${section}`}>
        {listLinks(section, projectId).map(({ path, title }) => (
          <li key={path}>
            <Link
              to={path as never}
              className={LINK}
              activeProps={ACTIVE}
              activeOptions={{ includeSearch: false, exact: path.endsWith('/settings') }}
              onClick={onChosen}
            >
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Most visits stay in one project: the first page loads faster without the search. */
const ProjectPicker = lazy(() => import('./project-picker.tsx'))

/** Shows the project of the page. A click opens the search for another one. */
export function ProjectSwitch() {
  const { data: projects } = useProjects()
  const name = useProject()?.name ?? ''
  const { project: id } = useParams({ strict: false })
  const [isWanted, setWanted] = useState(false)
  if (projects === undefined || projects.length === 0) return null
  const button = (
    <div>
      <span className="mb-1 block font-medium">Project</span>
      <button
        type="button"
        aria-label={name === '' ? 'Choose a project' : `Project ${name}`}
        aria-haspopup="listbox"
        onClick={() => setWanted(true)}
        className={`${FIELD_CLASS} flex w-full items-center justify-between gap-1.5 text-left`}
      >
        <bdi className={`min-w-0 truncate ${name === '' ? 'text-muted' : ''}`}>
          {escapeControlCharacters(name) || 'Choose a project'}
        </bdi>
        <svg aria-hidden="true" viewBox="0 0 16 16" className="size-3.5 shrink-0 text-muted">
          <path d="m4 6 4 4 4-4" fill="none" stroke="currentColor" strokeWidth="1.8" />
        </svg>
      </button>
    </div>
  )
  if (!isWanted) return button
  return (
    <Suspense fallback={button}>
      <ProjectPicker id={id} name={name} />
    </Suspense>
  )
}
