/** Projects and their settings. */
import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { invalidRequest } from '../../errors/errors.ts'
import { callAs } from '../../postgres/admin/call-as.ts'
import { settings } from '../answers/projects.ts'
import { projectName } from '../field-types.ts'
import type { Asked } from '../find-objects.ts'
import { formatId, notFound } from '../ids.ts'
import { NO_PROJECT, object } from '../objects.ts'
import { change, collection, list, make, read } from '../operations.ts'
import { type Operation, serveBy } from '../table-row.ts'

const DEFAULT_PLAN = 'free'
const SETTINGS = '/v1/organization/projects/:project_id/settings'
const SETTING = t.Union([t.String(), t.Number(), t.Boolean(), t.Array(t.String())])

const project = object('Project', 'organization.project', 'organization_projects', 'proj', NO_PROJECT)
const projects = collection(project, { tag: 'Projects', base: '/v1/organization/projects', own: 'project_id' })

export const PROJECTS: readonly Operation[] = [
  list(projects, 'List projects', { query: { include_archived: t.Optional(t.Boolean()) } }),
  make(projects, 'Create a project', {
    body: { name: projectName, plan: t.Optional(t.String()) },
    calls: ['create_project', ({ body }) => ({ project: body.name, plan: body.plan ?? DEFAULT_PLAN })],
  }),
  read(projects, 'Read a project'),
  change(projects, 'Change a project’s name or plan', {
    body: { name: t.Optional(projectName), plan: t.Optional(t.String()) },
    calls: [
      'update_project',
      ({ ids, body: { name = null, plan = null } }) => {
        if (name === null && plan === null) throw invalidRequest('Give a name or a plan.', 'name')
        return { project: ids.project_id, new_name: name, new_plan: plan }
      },
    ],
  }),
  change(projects, 'Archive a project: its keys stop working', {
    path: '/archive',
    calls: ['archive_project', ({ ids }) => ({ project: ids.project_id })],
  }),

  serveBy({
    ...{ method: 'GET', path: SETTINGS, tag: 'Projects', summary: 'Read a project’s settings', answer: settings },
    serve: describeSettings,
  }),
  {
    ...serveBy({
      ...{ method: 'POST', path: SETTINGS, tag: 'Projects', answer: settings },
      summary: 'Change some of a project’s settings',
      async serve(asked) {
        await callAs(asked.caller.actor, 'set_settings', { project: asked.ids.project_id, settings: asked.body })
        return describeSettings(asked)
      },
    }),
    body: Type.Record(t.String(), SETTING),
  },
]

async function describeSettings({ caller, ids }: Asked<{ project_id: number }>) {
  const [known, kinds, warnings] = await Promise.all([
    callAs(caller.actor, 'project_settings', { of_project: ids.project_id }),
    callAs(caller.actor, 'list_setting_kinds', {}),
    callAs(caller.actor, 'setting_warnings', { of_project: ids.project_id }),
  ])
  if (known === null) throw notFound(project.missing)
  return { object: 'project.settings', project_id: formatId('proj', ids.project_id), settings: known, kinds, warnings }
}
