/** A drop-down list, alone or as part of a field. */
import type { SelectHTMLAttributes } from 'react'
import { escapeControlCharacters } from '../format.ts'

/** An option's value and title. A single string is both. */
export type SelectOption = string | readonly [value: string, title: string]

interface SelectProps extends Omit<SelectHTMLAttributes<HTMLSelectElement>, 'onChange'> {
  choices: readonly SelectOption[]
  /** Called with the chosen value. */
  onChange(value: string): void
}

export function Select({ choices, onChange, className = SELECT, ...select }: SelectProps) {
  return (
    <select className={className} onChange={event => onChange(event.target.value)} {...select}>
      {choices.map(choice => {
        const [value, title] = typeof choice === 'string' ? [choice, choice] : choice
        return (
          <option key={value} value={value}>
            {escapeControlCharacters(title)}
          </option>
        )
      })}
    </select>
  )
}

const SELECT = 'min-h-8 max-w-full rounded-md border border-line bg-surface px-2'
