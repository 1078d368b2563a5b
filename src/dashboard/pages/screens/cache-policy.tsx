/** The settings of a project's cache. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { call, get } from '../api.ts'
import { Button, Card, Loading, Problem } from '../components/basics.tsx'
import { TextField } from '../components/fields.tsx'
import { AmountField, ChoiceField } from '../components/setting-fields.tsx'
import type { Settings } from '../types.ts'
import { CACHE_MODES, JUDGE_MODES, POLICIES, RISKS, SEMANTIC_MODES, SIZES, TIMES, WORDINGS } from './policy-choices.ts'

export function settingsPath(projectId: string): string {
  return `/v1/organization/projects/${projectId}/settings`
}

export function useSettings(projectId: string | undefined) {
  const path = settingsPath(projectId ?? '')
  return useQuery({
    queryKey: [path],
    queryFn: () => get<Settings>(path).then(answer => answer.settings),
    enabled: projectId !== undefined,
  })
}

/** Props of the field for one setting: its value as text, and how to change it. */
type FieldOf = (name: string) => { value: string; disabled: boolean; onChange(value: string): void }

export function CachePolicy({ projectId, mayChange }: { projectId: string; mayChange: boolean }) {
  const path = settingsPath(projectId)
  const queries = useQueryClient()
  const current = useSettings(projectId)
  const [draft, setDraft] = useState<Record<string, string>>({})
  const saving = useMutation({
    mutationFn: () => call<Settings>('POST', path, draft),
    onSuccess: answer => {
      queries.setQueryData([path], answer.settings)
      setDraft({})
    },
  })
  if (current.error) return <Problem error={current.error} />
  if (current.data === undefined) return <Loading />
  const stored = (name: string) => asText(current.data[name])
  const isChanged = Object.entries(draft).some(([name, value]) => value !== stored(name))
  const field: FieldOf = name => ({
    value: draft[name] ?? stored(name),
    disabled: !mayChange,
    onChange: value => setDraft(before => ({ ...before, [name]: value })),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    saving.mutate()
  }
  return (
    <form onSubmit={submit} className="space-y-5">
      <Answers field={field} />
      <OtherWords field={field} />
      {field('semantic_policy').value === 'judged' && <Judge field={field} />}
      <Problem error={saving.error} />
      {mayChange && (
        <div className="sticky bottom-0 flex flex-wrap items-center justify-end gap-3 border-t border-line bg-canvas py-3">
          <span role="status" className="text-xs text-muted">
            {saving.isSuccess && !isChanged ? 'Saved: it holds from the next request on.' : ''}
          </span>
          {isChanged && <Button onClick={() => setDraft({})}>Discard</Button>}
          <Button type="submit" look="primary" disabled={!isChanged || saving.isPending}>
            Save policy
          </Button>
        </div>
      )}
    </form>
  )
}

/** Lists are edited as comma-separated text. */
function asText(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : String(value ?? '')
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card title={title}>
      <div className="space-y-5 p-4">{children}</div>
    </Card>
  )
}

function Answers({ field }: { field: FieldOf }) {
  return (
    <Section title="Stored answers">
      <ChoiceField label="Answered from the cache" choices={CACHE_MODES} {...field('cache_mode')} />
      <div className="grid gap-x-6 gap-y-4 sm:grid-cols-2">
        <AmountField
          label="Time to live"
          hint="How long an answer is kept, unless the request says otherwise. The plan sets an upper limit."
          units={TIMES}
          max={315_360_000}
          {...field('cache_ttl_seconds')}
        />
        <AmountField
          label="Maximum size"
          hint="Above it, the answers that would expire first are deleted. Checked once a minute."
          units={SIZES}
          max={Number.MAX_SAFE_INTEGER}
          {...field('cache_bytes')}
        />
      </div>
      <TextField
        label="Fallback models"
        placeholder="openai/gpt-4o-mini, anthropic/claude-haiku-4.5"
        hint="Up to five, separated by commas. They are asked in this order when a model cannot be reached."
        autoComplete="off"
        {...field('fallbacks')}
      />
      <TextField
        label="Allowed models"
        placeholder="openai/*, gpt-4o*"
        hint="Patterns of model names, separated by commas. Empty allows every model."
        autoComplete="off"
        {...field('allowed_models')}
      />
    </Section>
  )
}

function OtherWords({ field }: { field: FieldOf }) {
  return (
    <Section title="Questions in other words">
      <ChoiceField label="Semantic hits" choices={SEMANTIC_MODES} {...field('semantic_mode')} />
      <ChoiceField label="What may be served" choices={POLICIES} {...field('semantic_policy')} />
      <ChoiceField label="How boldly words are explained" choices={RISKS} {...field('semantic_risk')} />
      <div className="grid gap-x-6 gap-y-4 sm:grid-cols-2">
        <NumberField
          label="Similarity threshold"
          hint="Cosine similarity, 0 to 1, above which a stored question may be served. Pairs that a person has confirmed need not reach it."
          max={1}
          {...field('semantic_threshold')}
        />
      </div>
      <ChoiceField label="Text of matches" choices={WORDINGS} {...field('log_content')} />
    </Section>
  )
}

function Judge({ field }: { field: FieldOf }) {
  return (
    <Section title="Undecided pairs">
      <ChoiceField label="The judge" choices={JUDGE_MODES} {...field('semantic_judge')} />
      <div className="grid gap-x-6 gap-y-4 sm:grid-cols-2">
        {field('semantic_judge').value !== 'off' && (
          <>
            <TextField
              label="Judge’s model"
              placeholder="openai/gpt-4.1-mini"
              hint="Any model that the project can use. It gets both questions as data, and answers in a strict schema."
              autoComplete="off"
              {...field('semantic_judge_model')}
            />
            <NumberField
              label="Daily budget, in US dollars"
              hint="Per UTC day. When it is spent, the judge is not asked."
              max={1_000_000}
              {...field('semantic_judge_daily_usd')}
            />
            <NumberField
              label="Time limit, in milliseconds"
              hint="A verdict that arrives later applies to the next request."
              max={60_000}
              step={1}
              {...field('semantic_judge_timeout_ms')}
            />
          </>
        )}
        <NumberField
          label="Minimum similarity"
          hint="Less similar pairs are never sent to the judge, and not served even if they were confirmed."
          max={1}
          {...field('semantic_judge_floor')}
        />
        <NumberField
          label="Share of hits to verify"
          hint="0 to 1. The judge checks this share of the semantic hits afterwards. A pair that it calls different is not served again."
          max={1}
          {...field('semantic_verify_ratio')}
        />
      </div>
    </Section>
  )
}

interface NumberFieldProps extends ReturnType<FieldOf> {
  label: string
  hint: string
  max: number
  step?: 'any' | 1
}

function NumberField({ step = 'any', ...field }: NumberFieldProps) {
  return <TextField {...field} type="number" required min={0} step={step} />
}
