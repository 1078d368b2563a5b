/** Projects, and what each of them has. */
import { type Static, Type as t } from '@sinclair/typebox'
import { orNull, words } from '../../postgres/admin/schemas.ts'
import { objectOf, text } from './shared.ts'

export const route = objectOf(
  'Route',
  'project.route',
  {
    id: text,
    model: t.String({ description: 'The model behind an alias; else the id.' }),
    kind: orNull(t.String({ description: 'chat, embedding, …' })),
    provider: orNull(text),
    input_usd_per_million: orNull(t.Number({ description: 'Of its tokens. Null: not known.' })),
    output_usd_per_million: orNull(t.Number({ description: 'Of its tokens. Null: not known.' })),
    problem: orNull(t.Object({ status: t.Integer(), code: text, message: text })),
  },
  'Who would answer a model, or what it would be refused with.',
)
export type Route = Static<typeof route>

const settingKind = t.Object(
  {
    name: text,
    type: words('choice', 'number', 'whole', 'text', 'models', 'aliases'),
    preset: t.String({ description: 'What a new project has.' }),
    least: orNull(t.Number()),
    most: orNull(t.Number()),
    words: t.Array(text),
    area: t.String({ description: 'What else it stands with on a page.' }),
    title: t.String({ description: 'Its name there.' }),
    help: text,
    place: t.Integer({ description: 'Its place in the area.' }),
    choices: t.Array(text, {
      description: 'For each of the words of a choice: a title, a colon, and what it does.',
    }),
  },
  { $id: 'SettingKind' },
)
export type SettingKind = Static<typeof settingKind>

export const settings = objectOf('Settings', 'project.settings', {
  project_id: text,
  settings: t.Record(t.String(), t.Unknown(), { description: 'Those that are set, and the defaults of all others.' }),
  kinds: t.Array(settingKind),
  warnings: t.Array(text, { description: 'Models in them that nothing has matched.' }),
})
export type Settings = Static<typeof settings>
