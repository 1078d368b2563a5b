/** Makes an object of the admin API from a view, whose rows it is: what it is called, and how its ids begin. */
import { type TObject, Type as t } from '@sinclair/typebox'
import { stringUnion } from '../postgres/admin/schemas.ts'
import { SQL_VIEWS } from '../postgres/admin/views.generated.ts'
import type { ViewName } from '../postgres/admin/views.ts'
import type { IdPrefix } from './ids.ts'

export interface ApiObject<View extends ViewName = ViewName> {
  view: View
  /** The field `object` of an answer; null where it has none. */
  kind: string | null
  /** Null where names are no numbers, or there is only one. */
  idPrefix: IdPrefix | null
  /** What is said where there is none. */
  notFoundMessage: string
  schema: TObject
}

/** `name` is that of its schema in the description. */
export function defineObject<View extends ViewName, const Kind extends string | null>(
  name: string,
  kind: Kind,
  view: View,
  idPrefix: IdPrefix | null,
  notFoundMessage: string,
) {
  const columns: (typeof SQL_VIEWS)[View]['columns'] = SQL_VIEWS[view].columns
  const schema = t.Object(
    { ...(kind !== null && { object: t.Literal(kind) }), ...columns },
    { $id: name, description: SQL_VIEWS[view].comment },
  )
  return { view, kind, idPrefix, notFoundMessage, schema }
}

/** What projects have, and the organization as a whole: described as one. */
export function defineScopedObjects(
  name: string,
  kind: string,
  view: ViewName,
  idPrefix: IdPrefix,
  notFoundMessage: (of: string) => string,
) {
  const describe = (of: 'organization' | 'project') => {
    const described = defineObject(name, `${of}.${kind}`, view, idPrefix, notFoundMessage(of))
    const properties = {
      ...described.schema.properties,
      object: stringUnion(`organization.${kind}`, `project.${kind}`),
    }
    return { ...described, schema: t.Object(properties, { $id: name, description: SQL_VIEWS[view].comment }) }
  }
  return { organization: describe('organization'), project: describe('project') }
}

export const PROJECT_NOT_FOUND = 'This project does not exist, or you are not a member of it.'
export const notFoundInProject = (what: string) => `There is no such ${what} in this project.`
