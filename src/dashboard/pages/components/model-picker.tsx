/** The choice of a model, with the route of the chosen one. */
import type { Route } from '../types.ts'
import { ModelRoute } from './model-routes.tsx'
import { Picker } from './picker.tsx'
import { searchList } from './picker-sources.ts'

interface ModelPickerProps {
  usable: readonly Route[]
  route: Route
  onChange(model: string): void
}

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
