/** The paths of stored objects, from the table that routes their requests. */
import {
  STORED_OBJECT_COLLECTIONS,
  type StoredObjectCollection,
  traitsOf,
} from '../../src/providers/stored-object-collections.ts'

export const COLLECTIONS = Object.keys(STORED_OBJECT_COLLECTIONS) as StoredObjectCollection[]

/** Returns every path of the collection after the base URL, with the ids of the object and its sub-objects filled in. */
export function listObjectPaths(collection: StoredObjectCollection, id = 'id_1'): string[] {
  const { path, actions } = traitsOf(collection)
  return Object.keys(actions).map(part => path + part.replace('*', id).replaceAll('*', 'inner_1'))
}
