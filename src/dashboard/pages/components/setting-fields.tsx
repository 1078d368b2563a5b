/** The field of one project setting, as the server describes it: a choice with hints, an amount with a unit, or text. */
import { useId, useState } from 'react'
import { matchesAnyModelPattern } from '../../../providers/model-patterns.ts'
import { escapeControlCharacters, formatPlural, formatUsd } from '../format.ts'
import { describeChoice, describeSettingValue, largestUnit, unitsOf } from '../setting-values.ts'
import type { SettingEffects, SettingKind } from '../types.ts'
import { FIELD_CLASS, LabeledField, Select, TextField } from './fields.tsx'

interface SettingFieldProps {
  kind: SettingKind
  value: string
  disabled: boolean
  /** Undefined while they are loading. */
  effects?: SettingEffects | undefined
  onChange(value: string): void
}

export function SettingField(props: SettingFieldProps) {
  return props.kind.type === 'choice' ? (
    <ChoiceField {...props} />
  ) : (
    <div>
      <ValueField {...props} />
      <ValueEffects {...props} />
    </div>
  )
}

/** Shows last week with other values, below the field of an amount or of allowed models. */
function ValueEffects({ kind, value, effects }: SettingFieldProps) {
  const listed = effects?.effects.filter(effect => effect.setting === kind.name) ?? []
  const rejections =
    kind.name === 'allowed_models' && effects ? describeRejections(effects.requested_models, value) : null
  if (listed.length === 0 && rejections === null) return null
  return (
    <ul className="mt-2 space-y-0.5 text-xs text-muted">
      {rejections && <li className="[overflow-wrap:anywhere]">{escapeControlCharacters(rejections)}</li>}
      {listed.map(effect => (
        <li key={effect.value}>
          <b className="font-medium text-ink">{describeSettingValue(kind, effect.value)}</b> – {describeEffect(effect)}
        </li>
      ))}
    </ul>
  )
}

function ValueField({ kind, effects: _, ...field }: SettingFieldProps) {
  const { name, type, title, help, least, most } = kind
  if (unitsOf(name)) return <AmountField kind={kind} {...field} />
  const isNumber = type === 'number' || type === 'whole'
  const limits = isNumber
    ? {
        type: 'number',
        required: true,
        min: least ?? undefined,
        max: most ?? undefined,
        step: type === 'whole' ? 1 : 'any',
      }
    : {}
  return <TextField label={title} hint={help} autoComplete="off" {...limits} {...field} />
}

function ChoiceField({ kind, value, disabled, effects, onChange }: SettingFieldProps) {
  const name = useId()
  const { title, words } = kind
  return (
    <fieldset disabled={disabled} className="sm:col-span-2">
      <legend className="mb-1.5 font-medium">{title}</legend>
      <div className={`grid gap-2 ${words.length % 3 === 0 ? 'sm:grid-cols-3' : 'sm:grid-cols-2'}`}>
        {words.map(word => {
          const [label, hint] = describeChoice(kind, word)
          const effect = effects?.effects.find(each => each.setting === kind.name && each.value === word)
          return (
            <label
              key={word}
              className={`flex cursor-pointer items-start gap-2.5 rounded-lg border p-3 has-disabled:cursor-default ${word === value ? 'border-accent bg-accent-soft' : 'border-line hover:bg-sunken'}`}
            >
              <input
                type="radio"
                name={name}
                value={word}
                checked={word === value}
                onChange={() => onChange(word)}
                className="mt-0.5 size-4 shrink-0 accent-(--accent)"
              />
              <span className="min-w-0">
                <span className="block font-medium">{label}</span>
                <span className={`mt-0.5 block text-xs ${word === value ? 'text-ink' : 'text-muted'}`}>{hint}</span>
                {effect && <span className="mt-1 block text-xs font-medium">{describeEffect(effect)}</span>}
              </span>
            </label>
          )
        })}
      </div>
    </fieldset>
  )
}

function AmountField({
  kind: { name, title, help, most },
  value,
  disabled,
  onChange,
}: Omit<SettingFieldProps, 'effects'>) {
  const units = unitsOf(name) ?? []
  const [chosen, setChosen] = useState<number | null>(null)
  const at = chosen ?? largestUnit(units, Number(value))
  const size = units[at]?.[1] ?? 1
  const update = (text: string, unitSize: number) =>
    onChange(text === '' ? '' : String(Math.round(Number(text) * unitSize)))
  const shown = value === '' ? '' : String(Number(value) / size)
  return (
    <LabeledField label={title} hint={help}>
      {attributes => (
        <div className="flex gap-2">
          <input
            {...attributes}
            type="number"
            required
            min={0}
            max={(most ?? Number.MAX_SAFE_INTEGER) / size}
            step="any"
            disabled={disabled}
            value={shown}
            onChange={event => update(event.target.value, size)}
            className={`min-w-0 flex-1 ${FIELD_CLASS}`}
          />
          <Select
            aria-label={`Unit of ${title.toLowerCase()}`}
            disabled={disabled}
            choices={units.map(([unit], index) => [String(index), unit] as const)}
            value={at}
            onChange={index => {
              const next = Number(index)
              setChosen(next)
              update(shown, units[next]?.[1] ?? 1)
            }}
            className={FIELD_CLASS}
          />
        </div>
      )}
    </LabeledField>
  )
}

type Effect = SettingEffects['effects'][number]

/** Describes an effect, such as “3 fewer cache hits, $0.02 more spent”. */
function describeEffect({ hits, saved_usd: usd }: Effect): string {
  if (hits === 0) return 'Last week: the same cache hits'
  const change = `${formatPlural(Math.abs(hits), hits < 0 ? 'fewer cache hit' : 'more cache hit')}`
  const cost = usd === 0 ? '' : `, ${formatUsd(Math.abs(usd))} ${usd < 0 ? 'more' : 'less'} spent`
  return `Last week: ${change}${cost}`
}

/** Describes how many requests of the last week a list of allowed models would have rejected; null if they are not counted. */
function describeRejections(models: SettingEffects['requested_models'], list: string): string | null {
  const patterns = list.split(',').flatMap(pattern => pattern.trim() || [])
  if (models.length === 0 || patterns.length === 0) return null
  const rejected = models.filter(({ model }) => !matchesAnyModelPattern(model, patterns))
  const count = rejected.reduce((sum, { requests }) => sum + requests, 0)
  if (count === 0) return 'Last week: no request would have been rejected'
  const named = rejected.slice(0, 3).map(({ model }) => model)
  const rest = rejected.length > named.length ? ', …' : ''
  return `Last week: ${formatPlural(count, 'request')} would have been rejected (${named.join(', ')}${rest})`
}
