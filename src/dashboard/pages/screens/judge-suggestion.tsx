/** Offers to have a model learn from near misses, with what that would cost a day; nothing where none can be reached, or one is asked already. */
import { useQuery } from '@tanstack/react-query'
import { Button, Card, ErrorMessage, UserText } from '../components/elements.tsx'
import { formatCount, formatUsd } from '../format.ts'
import {
  chooseJudgeModel,
  DEFAULT_JUDGE_MODELS,
  estimateDailyPairs,
  estimatePairCost,
  JUDGE_PROMPT_TOKENS,
} from '../judge-cost.ts'
import { useRoutes } from '../routes.ts'
import { useUpdateSettings } from '../settings.ts'
import type { Calibration, Project, Settings } from '../types.ts'

export function JudgeSuggestion({ project, settings }: { project: Project; settings: Settings['settings'] }) {
  const isOpen =
    settings.semantic_mode === 'on' &&
    settings.semantic_judge === 'off' &&
    ['verified', 'judged'].includes(String(settings.semantic_policy))
  const named = String(settings.semantic_judge_model)
  const routes = useRoutes(project.id, { 'models[]': named === '' ? DEFAULT_JUDGE_MODELS : [named] }, isOpen)
  const judge = chooseJudgeModel(routes.data ?? [])
  const { data: seen } = useQuery<Calibration>({
    queryKey: ['/v1/cache/calibration', { project_id: project.id }],
    enabled: isOpen && judge !== undefined,
  })
  const saving = useUpdateSettings(project.id)
  if (!isOpen || !judge || !seen) return null
  const bounds = { threshold: Number(settings.semantic_threshold), floor: Number(settings.semantic_judge_floor) }
  const pairs = estimateDailyPairs(seen.histogram, bounds, project.created_at, Date.now() / 1_000)
  const most = Number(settings.semantic_judge_daily_usd)
  const learn = { semantic_policy: 'judged', semantic_judge: 'learn', semantic_judge_model: judge.id }
  return (
    <Card title="Learn from near misses" className="mb-5">
      <div className="flex flex-wrap items-center justify-between gap-3 p-4">
        <p className="max-w-2xl min-w-0 text-muted">
          <UserText className="font-mono">{judge.id}</UserText> can be asked, after the request, whether the questions
          of a near miss ask the same; if it says so, later ones are served. By last week’s near misses, that is about{' '}
          {formatCount(Math.ceil(pairs))} pairs a day, for{' '}
          <b className="font-medium text-ink">{formatUsd(Math.min(most, pairs * estimatePairCost(judge)))} a day</b> at{' '}
          {formatCount(JUDGE_PROMPT_TOKENS)} tokens a question to it, and never for more than {formatUsd(most)}, its
          daily budget.
        </p>
        <Button disabled={saving.isPending} onClick={() => saving.mutate(learn)}>
          Learn from them
        </Button>
      </div>
      <ErrorMessage error={saving.error} />
    </Card>
  )
}
