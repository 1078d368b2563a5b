/** /v1/organization/projects, in OpenAI's form, with the proxy's own plan and settings. */
import { t } from 'elysia'
import { invalidRequest } from '../errors/errors.ts'
import type { Actor } from '../postgres/admin/act-as.ts'
import {
  archiveProject,
  createProjectAs,
  listSettingKinds,
  pageOfProjects,
  projectSettings,
  setSettings,
  updateProject,
} from '../postgres/admin/projects.ts'
import type { ProjectRow } from '../postgres/admin/rows.ts'
import { settings } from './answers/projects.ts'
import { pagesOf } from './answers/shared.ts'
import { type AdminOptions, createController } from './controller.ts'
import { projectName, strict } from './field-types.ts'
import { formatId, notFound, requireId } from './ids.ts'
import { project as projectObject } from './objects.ts'
import { operation } from './operation.ts'
import { pageQueryOf, pageSize, readCursor, toPage, toSeconds } from './pages.ts'

const DEFAULT_PLAN = 'free'

/** Throws a 404 for a project that the caller may not see, too. */
export async function findProject(actor: Actor, id: string): Promise<ProjectRow> {
  const only_project = requireId('proj', id)
  const [row] = await pageOfProjects(actor, { only_project, include_archived: true, page_size: 1 })
  if (row === undefined) throw notFound('This project does not exist, or you are not a member of it.')
  return row
}

export function createProjectsController(options: AdminOptions) {
  const answer = async (actor: Actor, id: string) => describeProject(await findProject(actor, id))

  return createController(options, '/v1/organization/projects', 'Projects')
    .get(
      '',
      async ({ caller, query: { after, limit, include_archived } }) => {
        const rows = await pageOfProjects(caller.actor, {
          include_archived: include_archived ?? false,
          after_id: readCursor('proj', after),
          page_size: pageSize(limit),
        })
        return toPage(rows.map(describeProject), limit)
      },
      operation('List projects', pagesOf(projectObject.schema), {
        query: t.Object({ ...pageQueryOf('proj'), include_archived: t.Optional(t.Boolean()) }, strict),
      }),
    )
    .post(
      '',
      async ({ caller, body: { name, plan } }) => {
        const [created] = await createProjectAs(caller.actor, { project: name, plan: plan ?? DEFAULT_PLAN })
        return answer(caller.actor, formatId('proj', created?.result ?? 0))
      },
      operation('Create a project', projectObject.schema, {
        body: t.Object({ name: projectName, plan: t.Optional(t.String()) }, strict),
      }),
    )
    .get(
      '/:project_id',
      ({ caller, params }) => answer(caller.actor, params.project_id),
      operation('Read a project', projectObject.schema),
    )
    .post(
      '/:project_id',
      async ({ caller, params, body: { name, plan } }) => {
        const id = requireId('proj', params.project_id)
        if (name === undefined && plan === undefined) throw invalidRequest('Give a name or a plan.', 'name')
        await updateProject(caller.actor, { project: id, new_name: name, new_plan: plan })
        return answer(caller.actor, params.project_id)
      },
      operation('Change a project’s name or plan', projectObject.schema, {
        body: t.Object({ name: t.Optional(projectName), plan: t.Optional(t.String()) }, strict),
      }),
    )
    .post(
      '/:project_id/archive',
      async ({ caller, params }) => {
        await archiveProject(caller.actor, { project: requireId('proj', params.project_id) })
        return answer(caller.actor, params.project_id)
      },
      operation('Archive a project: its keys stop working', projectObject.schema),
    )
    .get(
      '/:project_id/settings',
      async ({ caller, params }) => describeSettings(caller.actor, requireId('proj', params.project_id)),
      operation('Read a project’s settings', settings),
    )
    .post(
      '/:project_id/settings',
      async ({ caller, params, body }) => {
        const id = requireId('proj', params.project_id)
        await setSettings(caller.actor, { project: id, settings: body })
        return describeSettings(caller.actor, id)
      },
      operation('Change some of a project’s settings', settings, {
        body: t.Record(t.String(), t.Union([t.String(), t.Number(), t.Boolean(), t.Array(t.String())])),
      }),
    )
}

async function describeSettings(actor: Actor, id: number) {
  const [[row], kinds] = await Promise.all([projectSettings(actor, { of_project: id }), listSettingKinds(actor, {})])
  if (!row?.result) throw notFound('This project does not exist, or you are not a member of it.')
  return { object: 'project.settings' as const, project_id: formatId('proj', id), settings: row.result, kinds }
}

function describeProject(row: ProjectRow) {
  return {
    id: formatId('proj', row.id),
    object: 'organization.project' as const,
    name: row.name,
    created_at: toSeconds(row.created_at),
    archived_at: toSeconds(row.archived_at),
    status: row.archived_at === null ? ('active' as const) : ('archived' as const),
    plan: row.plan,
    your_role: row.your_role,
  }
}
