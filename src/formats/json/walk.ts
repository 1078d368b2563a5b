/** Walks over parsed JSON. Whatever may be at any place of a body is read by a visitor of this walk. */

/** The steps from the root to a value: names of fields, and indexes of lists. */
export type Path = (string | number)[]

/**
 * Receives a value, its name or index, the object or list that contains it, and the path of that container, which changes after the call.
 * Returns whether to visit what is within the value.
 */
export type Visitor = (value: unknown, name: string | number, container: object, path: Path) => boolean

/**
 * Visits every value within `root`, in order, except numbers and booleans in lists, because lists of tokens and vectors are long. Recursive:
 * `measureJson` limits the depth of a request.
 */
export function walkJson(root: object, visit: Visitor, path: Path = []): void {
  if (!Array.isArray(root)) {
    // A parsed object has own fields only.
    for (const name in root) visitValue((root as Record<string, unknown>)[name], name, root, path, visit)
    return
  }
  for (let index = 0; index < root.length; index++) {
    const item: unknown = root[index]
    if (typeof item === 'string' || typeof item === 'object') visitValue(item, index, root, path, visit)
  }
}

function visitValue(value: unknown, name: string | number, container: object, path: Path, visit: Visitor): void {
  if (!visit(value, name, container, path) || typeof value !== 'object' || value === null) return
  path.push(name)
  walkJson(value, visit, path)
  path.pop()
}
