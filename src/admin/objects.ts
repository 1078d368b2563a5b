/** Defines objects of the admin API from views: their names, id prefixes and schemas. */
import { type TObject, Type as t } from '@sinclair/typebox'
import { stringUnion } from '../postgres/admin/schemas.ts'
import { SQL_VIEWS } from '../postgres/admin/views.generated.ts'
import type { ViewName } from '../postgres/admin/views.ts'
import type { IdPrefix } from './ids.ts'

export interface ApiObject<View extends ViewName = ViewName> {
  view: View
  /** The value of the field `object` in responses; null if they have none. */
  kind: string | null
  /** The prefix of ids; null if objects are named by text, or if there is only one. */
  idPrefix: IdPrefix | null
  /** The error message if there is no such object. */
  notFoundMessage: string
  schema: TObject
}

/** Defines an object. `name` is the name of its schema in the description. */
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

/** Defines a kind of object that both projects and the organization have, with one schema. */
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
