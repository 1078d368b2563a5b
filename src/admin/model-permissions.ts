/** OpenAI's `model_permissions` of a project: its setting `allowed_models`. */
import { t } from 'elysia'
import { invalidRequest } from '../errors/errors.ts'
import type { Actor } from '../postgres/admin/act-as.ts'
import { projectSettings, setSettings } from '../postgres/admin/projects.ts'
import { modelPermissions } from './answers/projects.ts'
import { deleted } from './answers/shared.ts'
import { type AdminOptions, createController } from './controller.ts'
import { strict } from './field-types.ts'
import { operation } from './operation.ts'
import { oneOf } from './pages.ts'
import { findProject } from './projects.ts'

const PATH = '/:project_id/model_permissions'

export function createModelPermissionsController(options: AdminOptions) {
  return createController(options, '/v1/organization/projects', 'Projects')
    .get(
      PATH,
      async ({ caller, params }) => {
        const { id } = await findProject(caller.actor, params.project_id)
        return describe(await readAllowed(caller.actor, id))
      },
      operation('Read which models a project may use', modelPermissions),
    )
    .post(
      PATH,
      async ({ caller, params, body: { mode, model_ids } }) => {
        const { id } = await findProject(caller.actor, params.project_id)
        // An empty list of models that are denied denies none; an empty list of allowed ones would allow none, and the setting allows all.
        if ((mode === 'deny_list') !== (model_ids.length === 0)) {
          throw invalidRequest(
            'Give the models that are allowed (mode allow_list), or an empty deny_list to allow all: no single model can be denied.',
            'model_ids',
          )
        }
        await setSettings(caller.actor, { project: id, settings: { allowed_models: model_ids } })
        return describe(await readAllowed(caller.actor, id))
      },
      operation('Set which models a project may use', modelPermissions, {
        body: t.Object(
          { mode: oneOf('allow_list', 'deny_list'), model_ids: t.Array(t.String(), { maxItems: 100 }) },
          strict,
        ),
      }),
    )
    .delete(
      PATH,
      async ({ caller, params }) => {
        const { id } = await findProject(caller.actor, params.project_id)
        await setSettings(caller.actor, { project: id, settings: { allowed_models: [] } })
        return { object: 'project.model_permissions.deleted' as const, deleted: true }
      },
      operation('Let a project use all models', deleted('project.model_permissions', {})),
    )
}

async function readAllowed(actor: Actor, project: number): Promise<string[]> {
  const [row] = await projectSettings(actor, { of_project: project })
  return (row?.result?.allowed_models ?? []) as string[]
}

/** None is set: none is denied. */
function describe(allowed: string[]) {
  const mode = allowed.length > 0 ? ('allow_list' as const) : ('deny_list' as const)
  return { object: 'project.model_permissions' as const, mode, model_ids: allowed }
}
