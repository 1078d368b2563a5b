/** Searches for names that exist, for forms. */
import { Type as t } from '@sinclair/typebox'
import { invalidRequestError } from '../../errors/errors.ts'
import { callAsActor } from '../../postgres/admin/call-as.ts'
import { defineOperation } from '../admin-operation.ts'
import { limitParameter, rowLimit, stringEnum } from '../pagination.ts'
import { nameSchema } from '../responses/searches.ts'
import { listSchema } from '../responses/shared.ts'

/** The kinds of names that all projects share. */
const SHARED_KINDS: readonly string[] = ['project', 'user']

export const NAME_OPERATIONS = [
  defineOperation({
    ...{ method: 'GET', path: '/v1/organization/names', tag: 'Projects', response: listSchema(nameSchema) },
    summary: 'Search for names that exist: keys, models, tags, end users, projects, users',
    query: {
      kind: stringEnum('api_key', 'end_user', 'model', 'project', 'tag', 'user'),
      project_id: t.Optional(t.String()),
      search: t.Optional(t.String({ maxLength: 256 })),
      limit: limitParameter,
    },
    async serve({ caller, ids, query: { kind, search = '', limit } }) {
      const project = (ids as { project_id?: number }).project_id
      if (project === undefined && !SHARED_KINDS.includes(kind))
        throw invalidRequestError("The query parameter 'project_id' is required for this kind.", 'project_id')
      const size = rowLimit(limit)
      const found = await callAsActor(caller.actor, 'search_names', {
        in_kind: kind,
        of_project: project ?? null,
        search,
        max_rows: size,
      })
      const data = found.slice(0, size - 1).map(row => ({ object: 'organization.name' as const, ...row }))
      return { object: 'list', data, has_more: found.length >= size }
    },
  }),
]
