/** Fields that explain themselves: a choice with a hint on each option, and an amount in a readable unit. */
import { useId, useState } from 'react'

export interface Choice {
  value: string
  title: string
  hint: string
}

interface ChoiceFieldProps {
  label: string
  value: string
  choices: readonly Choice[]
  disabled?: boolean
  onChange(value: string): void
}

export function ChoiceField({ label, value, choices, disabled = false, onChange }: ChoiceFieldProps) {
  const name = useId()
  return (
    <fieldset disabled={disabled}>
      <legend className="mb-1.5 font-medium">{label}</legend>
      <div className={`grid gap-2 ${choices.length > 2 ? 'sm:grid-cols-3' : 'sm:grid-cols-2'}`}>
        {choices.map(choice => (
          <label
            key={choice.value}
            className={`flex cursor-pointer items-start gap-2.5 rounded-lg border p-3 has-disabled:cursor-default ${choice.value === value ? 'border-accent bg-accent-soft' : 'border-line hover:bg-sunken'}`}
          >
            <input
              type="radio"
              name={name}
              value={choice.value}
              checked={choice.value === value}
              onChange={() => onChange(choice.value)}
              className="mt-0.5 size-4 shrink-0 accent-(--accent)"
            />
            <span className="min-w-0">
              <span className="block font-medium">{choice.title}</span>
              <span className={`mt-0.5 block text-xs ${choice.value === value ? 'text-ink' : 'text-muted'}`}>
                {choice.hint}
              </span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

/** From the smallest to the largest. */
export type Units = readonly (readonly [title: string, size: number])[]

interface AmountFieldProps {
  label: string
  hint: string
  /** In the smallest unit, as text. */
  value: string
  units: Units
  max: number
  disabled?: boolean
  onChange(value: string): void
}

/** Returns the index of the largest unit that divides the amount. */
function fittingUnit(amount: number, units: Units): number {
  const fits = units.findLastIndex(([, size]) => amount > 0 && amount % size === 0)
  return Math.max(0, fits)
}

export function AmountField({ label, hint, value, units, max, disabled = false, onChange }: AmountFieldProps) {
  const id = useId()
  const [chosen, setChosen] = useState<number | null>(null)
  const at = chosen ?? fittingUnit(Number(value), units)
  const size = units[at]?.[1] ?? 1
  const keep = (text: string, unitSize: number) =>
    onChange(text === '' ? '' : String(Math.round(Number(text) * unitSize)))
  const field = 'min-h-9 rounded-lg border border-line bg-surface px-3 py-1.5 text-ink'
  return (
    <div>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      <div className="flex gap-2">
        <input
          id={id}
          type="number"
          required
          min={0}
          max={max / size}
          step="any"
          disabled={disabled}
          aria-describedby={`${id}-hint`}
          value={value === '' ? '' : String(Number(value) / size)}
          onChange={event => keep(event.target.value, size)}
          className={`min-w-0 flex-1 ${field}`}
        />
        <select
          aria-label={`Unit of ${label.toLowerCase()}`}
          disabled={disabled}
          value={at}
          onChange={event => {
            const next = Number(event.target.value)
            setChosen(next)
            if (value !== '') keep(String(Number(value) / size), units[next]?.[1] ?? 1)
          }}
          className={field}
        >
          {units.map(([title], unit) => (
            <option key={title} value={unit}>
              {title}
            </option>
          ))}
        </select>
      </div>
      <p id={`${id}-hint`} className="mt-1 text-xs text-muted">
        {hint}
      </p>
    </div>
  )
}
