/** Bars that show how much of a limit is used. */
import { formatPercent } from '../format.ts'
import { Card } from './elements.tsx'

interface MeterProps {
  title: string
  used: number
  limit: number
  format(value: number): string
  note?: string
}

export function Meter({ title, used, limit, format, note }: MeterProps) {
  const share = limit === 0 ? 1 : used / limit
  return (
    <Card className="p-4">
      <div className="flex items-baseline justify-between gap-2">
        <h2 className="min-w-0 font-medium [overflow-wrap:anywhere]">{title}</h2>
        <span className="text-xs text-muted">{formatPercent(share)}</span>
      </div>
      <p className="mt-1 text-2xl font-semibold tracking-tight tabular-nums">
        {format(used)} <span className="text-sm font-normal text-muted">of {format(limit)}</span>
      </p>
      {note && <p className="text-xs text-muted">{note}</p>}
      <div className="mt-3">
        <UsageBar title={title} share={share} />
      </div>
    </Card>
  )
}

/** `share` may exceed 1. */
export function UsageBar({ title, share }: { title: string; share: number }) {
  const color = share >= 1 ? 'bg-danger' : share >= 0.8 ? 'bg-warn' : 'bg-exact'
  return (
    <>
      <meter className="sr-only" aria-label={title} min={0} max={1} value={Math.min(1, share)} />
      <div aria-hidden="true" className="h-2 overflow-hidden rounded-full bg-sunken">
        <div className={`h-full rounded-full ${color}`} style={{ width: `${Math.min(100, share * 100)}%` }} />
      </div>
    </>
  )
}
