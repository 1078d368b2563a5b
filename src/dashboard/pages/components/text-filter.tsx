/** A text filter. */

/** The class of all filter fields. */
export const FILTER_CLASS = 'min-h-9 min-w-0 max-w-[min(14rem,100%)] rounded-lg border border-line bg-surface px-2.5'

interface TextFilterProps {
  label: string
  value: string | undefined
  onChange(value: string): void
}

/** Applies the filter on blur or Enter, not on every keystroke. */
export function TextFilter({ label, value, onChange }: TextFilterProps) {
  return (
    <input
      key={value ?? ''}
      aria-label={label}
      placeholder={label}
      defaultValue={value ?? ''}
      dir="auto"
      className={`${FILTER_CLASS} w-full sm:w-44`}
      onBlur={event => event.target.value.trim() !== (value ?? '') && onChange(event.target.value.trim())}
      onKeyDown={event => event.key === 'Enter' && event.currentTarget.blur()}
    />
  )
}
