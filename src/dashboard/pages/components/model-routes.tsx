/** Which way models take: who answers them, or what they are refused with. */
import { formatCount, isolateDirection } from '../format.ts'
import type { Route } from '../types.ts'

const NAMED = 3

export function ModelRoutes({ routes }: { routes: readonly Route[] }) {
  const groups = Map.groupBy(routes, ({ provider, problem }) => provider ?? String(problem?.status))
  return (
    <ul className="space-y-1 text-xs text-muted">
      {[...groups].map(([way, taking]) => (
        <li key={way}>
          <NamedModels names={taking.map(({ id }) => id)} /> {verbOf(taking)}{' '}
          <b className="font-medium text-ink">{way}</b>
        </li>
      ))}
    </ul>
  )
}

function verbOf([first, ...more]: readonly Route[]): string {
  if (first?.provider === null) return more.length === 0 ? 'is refused with' : 'are refused with'
  return more.length === 0 ? 'goes to' : 'go to'
}

function NamedModels({ names }: { names: readonly string[] }) {
  const rest = names.length - NAMED
  return (
    <>
      <code className="font-mono break-words">{names.slice(0, NAMED).join(', ')}</code>
      {rest > 0 && ` and ${formatCount(rest)} more`}
    </>
  )
}

/** Of one model. */
export function ModelRoute({ route: { id, model, provider, problem } }: { route: Route }) {
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
      Answers {problem.status}: {problem.message}
    </p>
  )
}
