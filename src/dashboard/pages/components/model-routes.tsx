/** The choice of a model, and the providers that requests for models are routed to. */
import { formatCount, isolateDirection } from '../format.ts'
import type { Route } from '../types.ts'
import { Picker } from './picker.tsx'
import { searchList } from './picker-sources.ts'

const MAX_NAMES = 3

/** Shows the providers that requests for models are routed to, or the status that they are rejected with. */
export function ModelRoutes({ routes }: { routes: readonly Route[] }) {
  const groups = Map.groupBy(routes, ({ provider, problem }) => provider ?? String(problem?.status))
  return (
    <ul className="space-y-1 text-xs text-muted">
      {[...groups].map(([target, group]) => (
        <li key={target}>
          <NamedModels names={group.map(({ id }) => id)} /> {describeRouting(group)}{' '}
          <b className="font-medium text-ink">{target}</b>
        </li>
      ))}
    </ul>
  )
}

function describeRouting([first, ...more]: readonly Route[]): string {
  if (first?.provider === null) return more.length === 0 ? 'is rejected with' : 'are rejected with'
  return more.length === 0 ? 'goes to' : 'go to'
}

function NamedModels({ names }: { names: readonly string[] }) {
  const rest = names.length - MAX_NAMES
  return (
    <>
      <code className="font-mono break-words">{names.slice(0, MAX_NAMES).join(', ')}</code>
      {rest > 0 && ` and ${formatCount(rest)} more`}
    </>
  )
}

/** Shows the route of one model. */
function ModelRoute({ route: { id, model, provider, problem } }: { route: Route }) {
  if (problem === null) {
    return (
      <p className="text-xs text-muted">
        Goes to <b className="font-medium text-ink">{provider}</b>
        {model === id ? '' : `, as ${isolateDirection(model)}`}.
      </p>
    )
  }
  return (
    <p className="text-xs text-danger">
      Requests are rejected with status {problem.status}: {problem.message}
    </p>
  )
}

interface ModelPickerProps {
  usable: readonly Route[]
  route: Route
  onChange(model: string): void
}

/** The choice of a model, with the route of the chosen one. */
export function ModelPicker({ usable, route, onChange }: ModelPickerProps) {
  const models = usable.map(({ id, provider }) => ({ value: id, name: id, detail: provider }))
  return (
    <div>
      <Picker
        label="Model"
        {...searchList('model', models)}
        values={[route.id]}
        onChange={([id = route.id]) => onChange(id)}
      />
      <ModelRoute route={route} />
    </div>
  )
}
