/** The basic components of all pages. */
import { Link } from '@tanstack/react-router'
import { type ButtonHTMLAttributes, type ComponentProps, type ReactNode, useEffect, useRef, useState } from 'react'
import { escapeControlCharacters } from '../format.ts'
import { useProject } from '../session.ts'

const BUTTONS = {
  primary: 'bg-accent text-surface hover:bg-accent-strong border-transparent',
  plain: 'bg-surface text-ink hover:bg-sunken border-line',
  quiet: 'bg-transparent text-muted hover:text-ink hover:bg-sunken border-transparent',
  danger: 'bg-surface text-danger hover:bg-danger-soft border-line',
}

export function Button({
  look = 'plain',
  className = '',
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { look?: keyof typeof BUTTONS }) {
  return (
    <button
      type="button"
      className={`inline-flex min-h-9 items-center justify-center gap-2 rounded-lg border px-3 py-1.5 font-medium whitespace-nowrap transition-colors disabled:opacity-50 print:hidden ${BUTTONS[look]} ${className}`}
      {...rest}
    />
  )
}

/** A smaller button, for a table row. */
export function RowButton({ look = 'danger', className = '', ...rest }: ComponentProps<typeof Button>) {
  return (
    <Button
      look={look}
      className={`!min-h-7 !border-transparent !bg-transparent !px-2 !py-0.5 text-xs hover:!bg-sunken ${look === 'plain' ? '!text-accent' : ''} ${className}`}
      {...rest}
    />
  )
}

export function Card({
  title,
  action,
  children,
  id,
  className = '',
}: {
  title?: string
  /** The target of links to this card. */
  id?: string
  action?: ReactNode
  children: ReactNode
  className?: string
}) {
  return (
    <section id={id} className={`min-w-0 rounded-xl border border-line bg-surface ${className}`}>
      {title !== undefined && (
        <header className="flex flex-wrap items-center justify-between gap-2 border-line px-4 py-3 not-last:border-b">
          <h2 className="font-semibold">{title}</h2>
          {action}
        </header>
      )}
      {children}
    </section>
  )
}

/** False until the first page is shown. The first page does not move the focus. */
let hasShownPage = false

/** The page's heading. It sets the title of the browser tab, and receives the focus after navigation from another page. */
export function PageHeader({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null)
  const project = useProject()?.name
  useEffect(() => {
    document.title = [title, project, 'Model Proxy'].filter(Boolean).join(' · ')
  }, [title, project])
  useEffect(() => {
    if (hasShownPage) heading.current?.focus({ preventScroll: true })
    hasShownPage = true
  }, [])
  return (
    <div className="mb-6 flex flex-wrap items-start justify-between gap-3">
      <div className="min-w-0">
        <h1 ref={heading} tabIndex={-1} className="text-xl font-semibold tracking-tight outline-none">
          {title}
        </h1>
        {children && <p className="mt-1 max-w-2xl text-muted [overflow-wrap:anywhere]">{children}</p>}
      </div>
      {action}
    </div>
  )
}

const BADGES = {
  good: 'bg-accent-soft text-accent-strong',
  neutral: 'bg-sunken text-muted',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-danger-soft text-danger',
}

export function Badge({ look = 'neutral', children }: { look?: keyof typeof BADGES; children: ReactNode }) {
  return (
    <span className={`inline-flex max-w-full rounded-md px-2 py-0.5 text-xs font-medium ${BADGES[look]}`}>
      {typeof children === 'string' ? <bdi>{escapeControlCharacters(children)}</bdi> : children}
    </span>
  )
}

export function ErrorMessage({ error }: { error: Error | null }) {
  if (error === null) return null
  return (
    <p role="alert" className="rounded-lg bg-danger-soft px-3 py-2 text-danger [overflow-wrap:anywhere]">
      {escapeControlCharacters(error.message)}
    </p>
  )
}

/** What stands in place of data that is not there yet: why it could not be loaded, or that it is being loaded. */
export function Pending({ error }: { error: Error | null }) {
  return error ? <ErrorMessage error={error} /> : <Loading />
}

/** Warnings of the server about values that it accepted. */
export function Warnings({ warnings }: { warnings: readonly string[] }) {
  return warnings.map(warning => (
    <p
      key={warning}
      role="note"
      className="my-1 min-w-48 rounded-lg bg-warn-soft px-3 py-2 font-normal whitespace-normal text-warn [overflow-wrap:anywhere]"
    >
      {escapeControlCharacters(warning)}
    </p>
  ))
}

export interface EmptyStateProps {
  title: string
  /** Why there is nothing, or how to get something. */
  help: ReactNode
  action?: ReactNode
}

export function EmptyState({ title, help, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-12 text-center">
      <p className="font-medium">{title}</p>
      <p className="max-w-md text-muted">{help}</p>
      {action && <div className="mt-2">{action}</div>}
    </div>
  )
}

export function Loading() {
  return (
    <div role="status" className="space-y-3 p-4">
      <span className="sr-only">Loading</span>
      {[70, 90, 55].map(width => (
        <div key={width} className="h-4 animate-pulse rounded bg-sunken" style={{ width: `${width}%` }} />
      ))}
    </div>
  )
}

/** Copies text to the clipboard. The result is announced to screen readers. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle')
  async function copy() {
    const result = await navigator.clipboard.writeText(text).then(
      () => 'copied' as const,
      () => 'failed' as const,
    )
    setState(result)
    setTimeout(() => setState('idle'), 2000)
  }
  return (
    <Button onClick={copy} aria-live="polite">
      {state === 'copied' ? 'Copied' : state === 'failed' ? 'Copy failed' : label}
    </Button>
  )
}

/** Text chosen by a user, of any length and script. It does not affect the text around it. */
export function UserText({ children, className = '' }: { children: string; className?: string }) {
  return (
    <bdi className={`block max-w-72 min-w-32 [overflow-wrap:anywhere] ${className}`}>
      {escapeControlCharacters(children)}
    </bdi>
  )
}

/** The icon of buttons that open filters. */
export function FilterIcon() {
  return (
    <svg viewBox="0 0 16 16" className="size-4" fill="none" stroke="currentColor" strokeWidth="1.5" aria-hidden="true">
      <path d="M2 4h12M4.5 8h7M7 12h2" strokeLinecap="round" />
    </svg>
  )
}

interface TextLinkProps {
  /** A path below /dashboard. */
  to: string
  /** The filters in the URL of the page. With `true`, they stay as they are. */
  search?: object | true
  className?: string
  children: ReactNode
}

/** A link in a text or a table. */
export function TextLink({ to, search = {}, className = '', children }: TextLinkProps) {
  return (
    <Link to={to as never} search={search as never} className={`text-accent underline ${className}`}>
      {children}
    </Link>
  )
}
