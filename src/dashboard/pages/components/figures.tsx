/** The most important numbers of a page, side by side in one panel. */
import type { ReactNode } from 'react'

/** `columns` is the number of figures in a row, on screens with enough space. */
export function Figures({ columns, children }: { columns: 3 | 4; children: ReactNode }) {
  return (
    <div className="@container">
      <dl
        className={`grid grid-cols-2 gap-px overflow-hidden rounded-xl border border-line bg-line *:bg-surface *:odd:last:col-span-full ${COLUMNS[columns]}`}
      >
        {children}
      </dl>
    </div>
  )
}

const COLUMNS = { 3: '@xl:grid-cols-3 @xl:*:odd:last:col-span-1', 4: '@2xl:grid-cols-4' }

interface FigureProps {
  title: string
  value: ReactNode
  /** For the figures that the page is about. */
  isLarge?: boolean
  /** How the figure has changed. */
  change?: ReactNode
  note?: ReactNode
}

export function Figure({ title, value, isLarge = false, change, note }: FigureProps) {
  return (
    <div className="min-w-0 px-4 py-3.5">
      <dt className={isLarge ? 'font-medium text-muted' : 'text-xs font-medium text-muted'}>{title}</dt>
      <dd
        className={`mt-1 font-semibold tracking-tight tabular-nums [overflow-wrap:anywhere] ${isLarge ? 'text-3xl sm:text-4xl' : 'text-xl'}`}
      >
        {value ?? '–'}
      </dd>
      {change && <dd className="mt-1 [overflow-wrap:anywhere]">{change}</dd>}
      {note && <dd className="mt-0.5 text-xs text-muted">{note}</dd>}
    </div>
  )
}
