/** The selection of events that a destination receives. */
import { useId } from 'react'
import { WEBHOOK_EVENT_TYPES } from '../../../postgres/seeds.generated.ts'

export const SELECTABLE_EVENTS = WEBHOOK_EVENT_TYPES.filter(({ area }) => area !== '')
export const EVENT_TITLES = new Map<string, string>(WEBHOOK_EVENT_TYPES.map(({ kind, title }) => [kind, title]))

/** The text of a form field for a selection: the kinds with commas between them, or ALL. */
const ALL = 'all'

export function writeSelection(events: readonly string[]): string {
  return events.length === 0 ? ALL : events.join(',')
}

/** Returns the kinds as the API expects them: an empty list selects all. */
export function readSelection(text: string): string[] {
  return text === ALL ? [] : text.split(',').filter(kind => kind !== '')
}

/** Checkboxes in groups. At least one must be checked. */
export function EventPicker({ value, onChange }: { value: string; onChange(value: string): void }) {
  const isAll = value === ALL
  const selected = new Set(readSelection(value))
  const change = (kind: string, isSelected: boolean) => {
    const kept = [...selected].filter(other => other !== kind)
    onChange((isSelected ? [...kept, kind] : kept).join(','))
  }
  return (
    <fieldset>
      <legend className="mb-1 font-medium">Events</legend>
      <EventCheckbox
        title="All events"
        summary="Also those that are added later."
        checked={isAll}
        onChange={checked => onChange(checked ? ALL : SELECTABLE_EVENTS.map(({ kind }) => kind).join(','))}
      />
      {!isAll &&
        [...Map.groupBy(SELECTABLE_EVENTS, ({ area }) => area)].map(([area, events]) => (
          <fieldset key={area} className="mt-3 border-t border-line pt-3">
            <legend className="float-left mb-1 w-full text-xs font-medium text-muted">{area}</legend>
            <div className="clear-both">
              {events.map(({ kind, title, summary }) => (
                <EventCheckbox
                  key={kind}
                  title={title}
                  summary={summary}
                  checked={selected.has(kind)}
                  required={selected.size === 0 && kind === SELECTABLE_EVENTS[0]?.kind}
                  onChange={checked => change(kind, checked)}
                />
              ))}
            </div>
          </fieldset>
        ))}
    </fieldset>
  )
}

interface EventCheckboxProps {
  title: string
  summary: string
  checked: boolean
  required?: boolean
  onChange(checked: boolean): void
}

function EventCheckbox({ title, summary, checked, required = false, onChange }: EventCheckboxProps) {
  const id = useId()
  return (
    <div className="flex items-start gap-2.5 py-1">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        required={required}
        aria-describedby={`${id}-summary`}
        onChange={event => onChange(event.target.checked)}
        className="mt-0.5 size-4 shrink-0 accent-(--accent)"
      />
      <div className="min-w-0">
        <label htmlFor={id} className="block">
          {title}
        </label>
        <p id={`${id}-summary`} className="text-xs text-muted">
          {summary}
        </p>
      </div>
    </div>
  )
}
