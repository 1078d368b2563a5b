/** Projects, and what each of them has. */
import { type Static, Type as t } from '@sinclair/typebox'
import { orNull, settingKind } from '../../postgres/admin/rows.ts'
import { objectOf, text } from './shared.ts'

export const route = objectOf(
  'Route',
  'project.route',
  {
    id: text,
    model: t.String({ description: 'The model behind an alias; else the id.' }),
    kind: orNull(t.String({ description: 'chat, embedding, …' })),
    provider: orNull(text),
    problem: orNull(t.Object({ status: t.Integer(), code: text, message: text })),
  },
  'Who would answer a model, or what it would be refused with.',
)
export type Route = Static<typeof route>

export const settings = objectOf('Settings', 'project.settings', {
  project_id: text,
  settings: t.Record(t.String(), t.Unknown(), { description: 'Those that are set, and the defaults of all others.' }),
  kinds: t.Array(settingKind),
})
export type Settings = Static<typeof settings>
