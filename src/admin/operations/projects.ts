/** Projects and their settings. */
import { Type, Type as t } from '@sinclair/typebox'
import { callAsActor } from '../../postgres/admin/call-as.ts'
import { type AdminOperation, defineOperation } from '../admin-operation.ts'
import { defineCollection, defineCreate, defineList, defineRead, defineUpdate } from '../define-operations.ts'
import { projectNameSchema } from '../field-types.ts'
import { type OperationRequest, requireProject } from '../find-objects.ts'
import { formatId } from '../ids.ts'
import { defineObject, PROJECT_NOT_FOUND } from '../objects.ts'
import { settingEffectsSchema, settingsSchema } from '../responses/projects.ts'

const DEFAULT_PLAN = 'free'
const SETTINGS = '/v1/organization/projects/:project_id/settings'
const SETTING = t.Union([t.String(), t.Number(), t.Boolean(), t.Array(t.String())])

const project = defineObject('Project', 'organization.project', 'organization_projects', 'proj', PROJECT_NOT_FOUND)
const projects = defineCollection(project, {
  tag: 'Projects',
  basePath: '/v1/organization/projects',
  idParameter: 'project_id',
})

export const PROJECT_OPERATIONS: readonly AdminOperation[] = [
  defineList(projects, 'List projects', { query: { include_archived: t.Optional(t.Boolean()) } }),
  defineCreate(projects, 'Create a project', {
    body: { name: projectNameSchema, plan: t.Optional(t.String()) },
    calls: ['create_project', ({ body }) => ({ project: body.name, plan: body.plan ?? DEFAULT_PLAN })],
  }),
  defineRead(projects, 'Read a project'),
  defineUpdate(projects, 'Change a project’s name or plan', {
    requiresField: true,
    body: { name: t.Optional(projectNameSchema), plan: t.Optional(t.String()) },
    calls: [
      'update_project',
      ({ ids, body: { name = null, plan = null } }) => ({ project: ids.project_id, new_name: name, new_plan: plan }),
    ],
  }),
  defineUpdate(projects, 'Archive a project: its keys stop working', {
    path: '/archive',
    calls: ['archive_project', ({ ids }) => ({ project: ids.project_id })],
  }),

  defineOperation({
    ...{
      method: 'GET',
      path: SETTINGS,
      tag: 'Projects',
      summary: 'Read a project’s settings',
      response: settingsSchema,
    },
    serve: describeSettings,
  }),
  defineOperation({
    ...{ method: 'GET', path: `${SETTINGS}/effects`, tag: 'Projects', response: settingEffectsSchema },
    summary: 'Compare the last week with what it would have been with other settings',
    async serve({ caller, ids }) {
      await requireProject(caller.actor, ids.project_id)
      const of_project = ids.project_id
      const [effects, requested_models] = await Promise.all([
        callAsActor(caller.actor, 'policy_effects', { of_project }, { mayLag: true }),
        callAsActor(caller.actor, 'count_requested_models', { of_project }, { mayLag: true }),
      ])
      return { object: 'project.setting_effects', effects, requested_models }
    },
  }),
  {
    ...defineOperation({
      ...{ method: 'POST', path: SETTINGS, tag: 'Projects', response: settingsSchema },
      summary: 'Change some of a project’s settings',
      async serve(asked) {
        await callAsActor(asked.caller.actor, 'set_settings', { project: asked.ids.project_id, settings: asked.body })
        return describeSettings(asked)
      },
    }),
    body: Type.Record(t.String(), SETTING),
  },
]

async function describeSettings({ caller, ids }: OperationRequest<{ project_id: number }>) {
  const [known, kinds, warnings] = await Promise.all([
    callAsActor(caller.actor, 'project_settings', { of_project: ids.project_id }),
    callAsActor(caller.actor, 'list_setting_kinds', {}),
    callAsActor(caller.actor, 'setting_warnings', { of_project: ids.project_id }),
  ])
  return { object: 'project.settings', project_id: formatId('proj', ids.project_id), settings: known, kinds, warnings }
}
