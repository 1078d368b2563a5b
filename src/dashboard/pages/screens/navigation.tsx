/** The menu: links to all pages that the user can open, in titled sections. */
import { Link, useParams } from '@tanstack/react-router'
import { MENU_SECTIONS, type MenuSection, PAGE_ENTRIES } from '../pages.ts'
import { isAdministrator, readLastProject, useProjects } from '../session.ts'
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
