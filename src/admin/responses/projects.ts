/** Projects, and what each of them has. */
import { type Static, Type as t } from '@sinclair/typebox'
import { nullable, stringUnion } from '../../postgres/admin/schemas.ts'
import { objectSchema, textSchema } from './shared.ts'

export const routeSchema = objectSchema(
  'Route',
  'project.route',
  {
    id: textSchema,
    model: t.String({ description: 'The model behind an alias; else the id.' }),
    kind: nullable(t.String({ description: 'chat, embedding, …' })),
    provider: nullable(textSchema),
    input_usd_per_million: nullable(t.Number({ description: 'Of its tokens. Null: not known.' })),
    output_usd_per_million: nullable(t.Number({ description: 'Of its tokens. Null: not known.' })),
    problem: nullable(t.Object({ status: t.Integer(), code: textSchema, message: textSchema })),
  },
  'Who would answer a model, or what it would be refused with.',
)
export type Route = Static<typeof routeSchema>

const settingKind = t.Object(
  {
    name: textSchema,
    type: stringUnion('choice', 'number', 'whole', 'text', 'models', 'aliases'),
    preset: t.String({ description: 'What a new project has.' }),
    least: nullable(t.Number()),
    most: nullable(t.Number()),
    words: t.Array(textSchema),
    area: t.String({ description: 'What else it stands with on a page.' }),
    title: t.String({ description: 'Its name there.' }),
    help: textSchema,
    place: t.Integer({ description: 'Its place in the area.' }),
    choices: t.Array(textSchema, {
      description: 'For each of the words of a choice: a title, a colon, and what it does.',
    }),
  },
  { $id: 'SettingKind' },
)
export type SettingKind = Static<typeof settingKind>

export const settingsSchema = objectSchema('Settings', 'project.settings', {
  project_id: textSchema,
  settings: t.Record(t.String(), t.Unknown(), { description: 'Those that are set, and the defaults of all others.' }),
  kinds: t.Array(settingKind),
  warnings: t.Array(textSchema, { description: 'Models in them that nothing has matched.' }),
})
export type Settings = Static<typeof settingsSchema>
