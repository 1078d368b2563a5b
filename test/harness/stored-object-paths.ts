/** The paths of stored objects, from the table by which requests find theirs. */
import {
  STORED_OBJECT_COLLECTIONS,
  type StoredObjectCollection,
  traitsOf,
} from '../../src/providers/stored-object-collections.ts'

export const COLLECTIONS = Object.keys(STORED_OBJECT_COLLECTIONS) as StoredObjectCollection[]

/** Every path of the collection after the base address, the object's id and those below it in place. */
export function listObjectPaths(collection: StoredObjectCollection, id = 'id_1'): string[] {
  const { path, actions } = traitsOf(collection)
  return Object.keys(actions).map(part => path + part.replace('*', id).replaceAll('*', 'inner_1'))
}
