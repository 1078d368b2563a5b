/** The frame around every page: project selection, navigation, and the logged-in user. */
import { type ErrorComponentProps, Link, Outlet, useLocation, useParams, useRouter } from '@tanstack/react-router'
import { Activity, useEffect, useState } from 'react'
import { Button, ErrorMessage, Loading, PageHeader } from '../components/elements.tsx'
import { Select, type SelectOption } from '../components/fields.tsx'
import { escapeControlCharacters } from '../format.ts'
import { isAdministrator, logOut, rememberProject, useProjectQuery, useSession } from '../session.ts'
import { applyTheme, readTheme, type Theme } from '../theme.ts'
import type { Session } from '../types.ts'
import { LoginForm, Logo } from './login.tsx'
import { listLinks, Navigation, ProjectSwitch } from './navigation.tsx'

/**
 * Shows the page to a logged-in user, and the login form to anybody else. When a session ends, its page stays mounted but hidden, with all
 * unsaved input, until the same user logs in again.
 */
export function AppShell() {
  const { data: session, error } = useSession()
  const [shown, setShown] = useState<Session | null>(null)
  if (session && session !== shown && (shown === null || session.user.id === shown.user.id)) setShown(session)
  const isOtherUser = session && shown && session.user.id !== shown.user.id
  useEffect(() => {
    if (isOtherUser) window.location.reload()
  }, [isOtherUser])
  if (session === null && shown === null) return <LoginForm />
  if (shown === null) {
    if (!error) return <Loading />
    return (
      <main className="mx-auto max-w-md p-8">
        <ErrorMessage error={error} />
      </main>
    )
  }
  return (
    <>
      {session === null && <LoginForm endedSessionOf={shown.user.email} />}
      <Activity mode={session && !isOtherUser ? 'visible' : 'hidden'}>
        <Frame session={shown} />
      </Activity>
    </>
  )
}

function Frame({ session }: { session: Session }) {
  const [open, setOpen] = useState(false)
  const { pathname } = useLocation()
  const { data: project, isUnknown } = useProjectQuery()
  const { project: id } = useParams({ strict: false })
  const isForbidden =
    id === undefined &&
    !isAdministrator(session) &&
    listLinks('organization').some(({ path }) => pathname.endsWith(path))
  // Navigation closes the menu, so that it does not cover the new page. A click on the current page's link closes it too (onChosen).
  useEffect(() => setOpen(false), [pathname])
  useEffect(() => {
    if (project) rememberProject(project.id)
  }, [project])

  return (
    <div className="min-h-dvh print:block lg:grid lg:grid-cols-[15.5rem_1fr]">
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:z-20 focus:bg-surface focus:p-3">
        Skip to content
      </a>
      <header className="print:hidden sticky top-0 z-10 flex items-center justify-between border-b border-line bg-surface px-4 py-2.5 lg:hidden">
        <span className="flex items-center gap-2 font-semibold">
          <Logo /> Model Proxy
        </span>
        <Button aria-expanded={open} aria-controls="sidebar" onClick={() => setOpen(!open)}>
          Menu
        </Button>
      </header>
      <aside
        id="sidebar"
        className={`${open ? 'block' : 'hidden'} print:hidden border-line bg-surface lg:sticky lg:top-0 lg:block lg:h-dvh lg:overflow-y-auto lg:border-r ${open ? 'border-b' : ''}`}
      >
        <div className="flex h-full flex-col gap-4 p-4">
          <Link to="/" className="hidden items-center gap-2.5 px-1 text-base font-semibold lg:flex">
            <Logo /> Model Proxy
          </Link>
          <ProjectSwitch />
          <Navigation session={session} onChosen={() => setOpen(false)} />
          <SidebarFooter session={session} />
        </div>
      </aside>
      <main id="content" tabIndex={-1} className="min-w-0 px-4 py-6 outline-none sm:px-6 lg:py-8">
        <div className="mx-auto max-w-6xl">
          {project?.status === 'archived' && (
            <p role="note" className="mb-5 rounded-lg bg-warn-soft px-3 py-2 text-warn">
              This project is archived. Requests with its keys are rejected; its records are kept.
            </p>
          )}
          {isForbidden ? (
            <PageHeader title="Administrators only">
              You do not have access to this page. Choose another page from the menu.
            </PageHeader>
          ) : isUnknown ? (
            <PageHeader title="Project not found">
              The project does not exist, or you are not a member of it. Choose another project from the menu.
            </PageHeader>
          ) : (
            <Outlet />
          )}
        </div>
      </main>
    </div>
  )
}

const THEMES: readonly SelectOption[] = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

function SidebarFooter({ session }: { session: Session }) {
  const [theme, setTheme] = useState(readTheme)
  return (
    <div className="space-y-3 border-t border-line pt-4">
      <label className="flex items-center justify-between gap-2 px-1 text-xs text-muted">
        Theme
        <Select
          className="rounded-md border border-line bg-surface px-1.5 py-1 text-ink"
          choices={THEMES}
          value={theme}
          onChange={chosen => {
            applyTheme(chosen as Theme)
            setTheme(chosen as Theme)
          }}
        />
      </label>
      <div className="flex items-center justify-between gap-2 px-1">
        <span className="min-w-0 truncate text-xs text-muted" title={escapeControlCharacters(session.user.email)}>
          <bdi>{escapeControlCharacters(session.user.email)}</bdi>
        </span>
        <Button look="quiet" className="!px-2 !py-1 text-xs" onClick={() => void logOut(false)}>
          Log out
        </Button>
      </div>
    </div>
  )
}

export function LoadError({ error }: ErrorComponentProps) {
  const router = useRouter()
  return (
    <>
      <PageHeader
        title="This page failed to load"
        action={
          <Button look="primary" onClick={() => void router.invalidate()}>
            Try again
          </Button>
        }
      />
      <ErrorMessage error={error instanceof Error ? error : null} />
    </>
  )
}

export function NotFound() {
  return <PageHeader title="Page not found">Choose a page from the menu.</PageHeader>
}
