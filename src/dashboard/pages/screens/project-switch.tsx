/** Shows the project of the page. A click opens the search for another one. */
import { useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { FIELD_CLASS } from '../components/fields.tsx'
import { escapeControlCharacters } from '../format.ts'
import { useProject, useProjects } from '../session.ts'

/** Most visits stay in one project: the first page loads faster without the search. */
const ProjectPicker = lazy(() => import('./project-picker.tsx'))

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
