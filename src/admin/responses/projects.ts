/** Response schemas of projects. */
import { type Static, Type as t } from '@sinclair/typebox'
import { nullable } from '../../postgres/admin/schemas.ts'
import { SQL_TYPE_SCHEMAS } from '../../postgres/admin/views.generated.ts'
import { objectSchema, textSchema } from './shared.ts'

export const routeSchema = objectSchema(
  'Route',
  'project.route',
  {
    id: textSchema,
    model: t.String({ description: 'The model behind an alias; otherwise the id.' }),
    kind: nullable(t.String({ description: 'chat, embedding, …' })),
    provider: nullable(textSchema),
    input_usd_per_million: nullable(t.Number({ description: 'US dollars per million input tokens; null if unknown.' })),
    output_usd_per_million: nullable(
      t.Number({ description: 'US dollars per million output tokens; null if unknown.' }),
    ),
    problem: nullable(t.Object({ status: t.Integer(), code: textSchema, message: textSchema })),
  },
  'The provider of a model, or the error with which requests for it would be rejected.',
)
export type Route = Static<typeof routeSchema>

const settingKind = t.Object(SQL_TYPE_SCHEMAS.setting_kinds, { $id: 'SettingKind' })
export type SettingKind = Static<typeof settingKind>

export const settingEffectsSchema = objectSchema(
  'SettingEffects',
  'project.setting_effects',
  {
    effects: t.Array(t.Object(SQL_TYPE_SCHEMAS.setting_effect)),
    requested_models: t.Array(t.Object(SQL_TYPE_SCHEMAS.requested_model), {
      description:
        'The requests of the last week by the requested model or alias; none if there are too many to count.',
    }),
  },
  'What other values of settings would have changed in a project’s last week. What cannot be computed from the records is left out.',
)
export type SettingEffects = Static<typeof settingEffectsSchema>

export const settingsSchema = objectSchema('Settings', 'project.settings', {
  project_id: textSchema,
  settings: t.Record(t.String(), t.Unknown(), {
    description: 'All settings, with the defaults of those that are not set.',
  }),
  kinds: t.Array(settingKind),
  warnings: t.Array(textSchema, { description: 'Models in the settings that matched no request.' }),
})
export type Settings = Static<typeof settingsSchema>
