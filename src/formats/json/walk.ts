/** Walks over parsed JSON. Whatever is read from any place of a body is read by a collector of this walk. */

/** The steps from the root to a value: names of fields, and indexes of lists. */
export type Path = (string | number)[]

/**
 * Receives a value, its name or index, the object or list that contains it, and the path of that container, which is valid during the call
 * only. Returns whether it also needs what is within the value.
 */
export type Collector = (value: unknown, name: string | number, container: object, path: Path) => boolean

/**
 * Gives the collectors every value within `root`, in order, except numbers and booleans in lists: lists of tokens and vectors are long.
 * Recursive: `measureJson` limits the depth of a request.
 */
export function walkJson(root: object, collectors: readonly Collector[], path: Path = []): void {
  if (!Array.isArray(root)) {
    // A parsed object has own fields only.
    for (const name in root) walkValue((root as Record<string, unknown>)[name], name, root, path, collectors)
    return
  }
  for (let index = 0; index < root.length; index++) {
    const item: unknown = root[index]
    if (typeof item === 'string' || typeof item === 'object') walkValue(item, index, root, path, collectors)
  }
}

function walkValue(
  value: unknown,
  name: string | number,
  container: object,
  path: Path,
  collectors: readonly Collector[],
): void {
  let interested = collectors
  for (let i = 0; i < collectors.length; i++) {
    const collect = collectors[i] as Collector
    if (!collect(value, name, container, path)) interested = interested.filter(each => each !== collect)
  }
  if (typeof value !== 'object' || value === null || interested.length === 0) return
  path.push(name)
  walkJson(value, interested, path)
  path.pop()
}
