/** The row of controls between a page's heading and its content. All pages have the same order: period, filters, options. */
import type { ReactNode } from 'react'

export function Toolbar({ children }: { children: ReactNode }) {
  return <search className="mb-4 flex flex-wrap items-center gap-x-3 gap-y-2">{children}</search>
}
