/** The field of one project setting, as the server describes it: a choice with hints, an amount with a unit, or text. */
import { useId, useState } from 'react'
import type { SettingKind } from '../types.ts'
import { FIELD_CLASS, LabeledField, TextField } from './fields.tsx'
import { Select } from './select.tsx'

interface SettingFieldProps {
  kind: SettingKind
  value: string
  disabled: boolean
  onChange(value: string): void
}

/** Units in ascending size, by the last word of a setting's name. */
const UNITS: Record<string, readonly (readonly [title: string, size: number])[]> = {
  seconds: [
    ['seconds', 1],
    ['minutes', 60],
    ['hours', 3600],
    ['days', 86_400],
  ],
  bytes: [
    ['bytes', 1],
    ['KiB', 1024],
    ['MiB', 1024 ** 2],
    ['GiB', 1024 ** 3],
  ],
}

/** Returns the last word of a setting's name. */
function unitOf(name: string): string {
  return name.slice(name.lastIndexOf('_') + 1)
}

export function SettingField({ kind, ...field }: SettingFieldProps) {
  const { name, type, title, help, least, most } = kind
  if (type === 'choice') return <ChoiceField kind={kind} {...field} />
  if (unitOf(name) in UNITS) return <AmountField kind={kind} {...field} />
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

function ChoiceField({ kind: { title, words, choices }, value, disabled, onChange }: SettingFieldProps) {
  const name = useId()
  return (
    <fieldset disabled={disabled} className="sm:col-span-2">
      <legend className="mb-1.5 font-medium">{title}</legend>
      <div className={`grid gap-2 ${words.length > 2 ? 'sm:grid-cols-3' : 'sm:grid-cols-2'}`}>
        {words.map((word, index) => {
          const [label = word, hint = ''] = choices[index]?.split(/: (.*)/) ?? []
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
              </span>
            </label>
          )
        })}
      </div>
    </fieldset>
  )
}

function AmountField({ kind: { name, title, help, most }, value, disabled, onChange }: SettingFieldProps) {
  const units = UNITS[unitOf(name)] ?? []
  const [chosen, setChosen] = useState<number | null>(null)
  // The largest unit that divides the amount without a remainder.
  const largestUnit = units.findLastIndex(([, size]) => Number(value) > 0 && Number(value) % size === 0)
  const at = chosen ?? Math.max(0, largestUnit)
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
