/** Simulates a similarity threshold with last week's matches: what it would have served, saved and got wrong. */
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { Button, Card, EmptyState, ErrorMessage, Pending } from '../components/elements.tsx'
import { Figure, Figures } from '../components/figures.tsx'
import { formatCount, formatPercent, formatPlural, formatUsd } from '../format.ts'
import { useSettings, useUpdateSettings } from '../settings.ts'
import type { Calibration, Project } from '../types.ts'
import { SimilarityHistogram } from './similarity-histogram.tsx'

export function SimilarityCalibration({ project }: { project: Project }) {
  const slider = useId()
  const settings = useSettings(project.id)
  const calibration = useQuery<Calibration>({
    queryKey: ['/v1/cache/calibration', { project_id: project.id }],
    refetchInterval: 15_000,
  })
  const [chosen, setChosen] = useState<number | null>(null)
  if (calibration.data === undefined || settings.data === undefined)
    return <Pending error={calibration.error ?? settings.error} />
  const current = Number(settings.data.settings.semantic_threshold)
  const threshold = chosen ?? Math.min(0.99, Math.max(0.5, Math.floor(current * 100) / 100))
  const { histogram } = calibration.data
  const isEmpty = histogram.every(bin => bin.served + bin.stopped + bin.same + bin.different === 0)
  return (
    <Card title="Threshold simulation">
      {isEmpty ? (
        <EmptyState
          title="No similar questions in the last week"
          help="When questions are similar to cached ones, this shows their similarity, and what each threshold would have served, saved and got wrong."
        />
      ) : (
        <div className="space-y-5 p-4">
          <Outcome calibration={calibration.data} threshold={threshold} />
          <SimilarityHistogram histogram={histogram} threshold={threshold} />
          <div>
            <div className="mb-1 flex items-baseline justify-between gap-3">
              <label htmlFor={slider} className="font-medium">
                Threshold
              </label>
              <output htmlFor={slider} className="font-semibold tabular-nums">
                {threshold.toFixed(2)}
              </output>
            </div>
            <input
              id={slider}
              type="range"
              min={0.5}
              max={0.99}
              step={0.01}
              value={threshold}
              onChange={event => setChosen(Number(event.target.value))}
              className="w-full accent-(--accent)"
            />
          </div>
          <SetThreshold projectId={project.id} threshold={threshold} isCurrent={threshold === current} />
          <p className="text-xs text-muted">
            This project’s threshold is {current}. Between 0.80 and the threshold, only one in twenty questions is
            recorded. The error rate is estimated from verdicts on matches and near misses; more verdicts make it more
            accurate.
          </p>
        </div>
      )}
    </Card>
  )
}

function SetThreshold({
  projectId,
  threshold,
  isCurrent,
}: {
  projectId: string
  threshold: number
  isCurrent: boolean
}) {
  const saving = useUpdateSettings(projectId)
  const save = () => saving.mutate({ semantic_threshold: String(threshold) })
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button disabled={isCurrent || saving.isPending} onClick={save}>
        Apply threshold
      </Button>
      {saving.error && <ErrorMessage error={saving.error} />}
    </div>
  )
}

/** Shows what the policy `threshold` would have served, saved and got wrong. */
function Outcome({
  calibration: { histogram, calibration },
  threshold,
}: {
  calibration: Calibration
  threshold: number
}) {
  const above = histogram.filter(bin => bin.at_least >= threshold - 1e-9)
  const sum = (bins: typeof above, of: (bin: (typeof above)[number]) => number) =>
    bins.reduce((total, bin) => total + of(bin), 0)
  const seen = sum(histogram, bin => bin.served + bin.stopped)
  const served = sum(above, bin => bin.served + bin.stopped)
  const stopped = sum(above, bin => bin.stopped)
  const estimate = calibration.find(row => row.difference === 'all' && Math.abs(row.threshold - threshold) < 1e-9)
  return (
    <div aria-live="polite">
      <Figures columns={3}>
        <Figure
          title="Would have been served"
          value={`${formatCount(served)} of ${formatCount(seen)}`}
          note={`${formatCount(stopped)} of these were not served because a check found a difference`}
        />
        <Figure
          title="Would have saved"
          value={formatUsd(sum(above, bin => bin.saved_usd + bin.missed_usd))}
          note={`${formatUsd(sum(histogram, bin => bin.saved_usd))} was saved`}
        />
        <Figure
          title="Would have been wrong"
          value={estimate ? formatPercent(1 - estimate.precision) : 'Unknown'}
          note={
            estimate
              ? `based on ${formatPlural(estimate.served, 'verdict')}; at most ${formatPercent(1 - estimate.precision_low)} with 95% confidence`
              : 'no verdicts above this threshold'
          }
        />
      </Figures>
    </div>
  )
}
