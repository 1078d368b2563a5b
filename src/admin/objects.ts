/** Makes an object of the admin API from a view, whose rows it is: what it is called, and how its ids begin. */
import { type TObject, Type as t } from '@sinclair/typebox'
import { words } from '../postgres/admin/schemas.ts'
import { VIEWS } from '../postgres/admin/views.generated.ts'
import type { ViewName } from '../postgres/admin/views.ts'
import type { IdKind } from './ids.ts'

export interface ApiObject<View extends ViewName = ViewName> {
  view: View
  /** The field `object` of an answer; null where it has none. */
  kind: string | null
  /** Null where names are no numbers, or there is only one. */
  idKind: IdKind | null
  /** What is said where there is none. */
  missing: string
  schema: TObject
}

/** `name` is that of its schema in the description. */
export function object<View extends ViewName, const Kind extends string | null>(
  name: string,
  kind: Kind,
  view: View,
  idKind: IdKind | null,
  missing: string,
) {
  const columns: (typeof VIEWS)[View]['columns'] = VIEWS[view].columns
  const schema = t.Object(
    { ...(kind !== null && { object: t.Literal(kind) }), ...columns },
    { $id: name, description: VIEWS[view].comment },
  )
  return { view, kind, idKind, missing, schema }
}

/** What projects have, and the organization as a whole: described as one. */
export function objectOfBoth(
  name: string,
  kind: string,
  view: ViewName,
  idKind: IdKind,
  missing: (of: string) => string,
) {
  const describe = (of: 'organization' | 'project') => {
    const described = object(name, `${of}.${kind}`, view, idKind, missing(of))
    const properties = { ...described.schema.properties, object: words(`organization.${kind}`, `project.${kind}`) }
    return { ...described, schema: t.Object(properties, { $id: name, description: VIEWS[view].comment }) }
  }
  return { organization: describe('organization'), project: describe('project') }
}

export const NO_PROJECT = 'This project does not exist, or you are not a member of it.'
export const noneHere = (what: string) => `There is no such ${what} in this project.`
