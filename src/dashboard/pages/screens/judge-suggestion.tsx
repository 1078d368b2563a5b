/**
 * Suggests that a model judges near misses, with the estimated cost per day. Renders nothing when no judge model is available, or when a
 * judge is already turned on.
 */
import { useQuery } from '@tanstack/react-query'
import { Button, Card, ErrorMessage, UserText } from '../components/elements.tsx'
import { formatPlural, formatUsd } from '../format.ts'
import { chooseJudgeModel, DEFAULT_JUDGE_MODELS, estimateDailyPairs, estimatePairCost } from '../judge-cost.ts'
import { useModelRoutes } from '../routes.ts'
import { useUpdateSettings } from '../settings.ts'
import type { Calibration, Project, Settings } from '../types.ts'

export function JudgeSuggestion({ project, settings }: { project: Project; settings: Settings['settings'] }) {
  const isEligible =
    settings.semantic_mode === 'on' &&
    settings.semantic_judge === 'off' &&
    ['verified', 'judged'].includes(String(settings.semantic_policy))
  const configuredModel = String(settings.semantic_judge_model)
  const routes = useModelRoutes(
    project.id,
    { 'models[]': configuredModel === '' ? DEFAULT_JUDGE_MODELS : [configuredModel] },
    isEligible,
  )
  const judge = chooseJudgeModel(routes.data ?? [])
  const { data: calibration } = useQuery<Calibration>({
    queryKey: ['/v1/cache/calibration', { project_id: project.id }],
    enabled: isEligible && judge !== undefined,
  })
  const saving = useUpdateSettings(project.id)
  if (!isEligible || !judge || !calibration) return null
  const floor = Number(settings.semantic_judge_floor)
  const pairs = estimateDailyPairs(calibration.histogram, floor, project.created_at, Date.now() / 1_000)
  const budget = Number(settings.semantic_judge_daily_usd)
  const learnSettings = { semantic_policy: 'judged', semantic_judge: 'learn', semantic_judge_model: judge.id }
  return (
    <Card title="Let a judge review near misses" className="mb-5">
      <div className="flex flex-wrap items-center justify-between gap-3 p-4">
        <p className="max-w-2xl min-w-0 text-muted">
          <UserText className="!inline font-mono">{judge.id}</UserText> can compare the questions of near misses after
          each request; confirmed pairs are then served from the cache. Last week’s near misses would be about{' '}
          {formatPlural(Math.ceil(pairs), 'pair')} a day, an estimated{' '}
          <b className="font-medium text-ink">{formatUsd(Math.min(budget, pairs * estimatePairCost(judge)))} a day</b>.
          The daily budget of {formatUsd(budget)} is never exceeded.
        </p>
        <Button disabled={saving.isPending} onClick={() => saving.mutate(learnSettings)}>
          Turn on judge
        </Button>
      </div>
      <ErrorMessage error={saving.error} />
    </Card>
  )
}
