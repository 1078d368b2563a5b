/** A row of buttons that selects one of a few choices. */
interface SegmentedControlProps {
  label: string
  value: string
  choices: readonly (readonly [value: string, title: string])[]
  onChange(value: string): void
}

export function SegmentedControl({ label, value, choices, onChange }: SegmentedControlProps) {
  return (
    <fieldset className="inline-flex min-w-0 max-w-full flex-wrap rounded-lg border border-line bg-sunken p-0.5">
      <legend className="sr-only">{label}</legend>
      {choices.map(([choice, title]) => (
        <button
          key={choice}
          type="button"
          aria-pressed={choice === value}
          onClick={() => onChange(choice)}
          className={`rounded-md px-3 py-1 text-xs font-medium whitespace-nowrap ${choice === value ? 'bg-surface text-ink shadow-sm ring-1 ring-line' : 'text-muted hover:text-ink print:hidden'}`}
        >
          {title}
        </button>
      ))}
    </fieldset>
  )
}
