/** The order of test files: files that wait run beside files that compute, and slow files start first. */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Folders whose files mostly wait for processes, a browser or an interpreter. The slowest folder is first. */
const WAITING = ['browser', 'clients/python', 'faults']
/** Folders whose files use a core and the stores all the time. */
const COMPUTING = ['hostile', 'integration', 'clients']

export class FileOrder extends BaseSequencer {
  /** Within a folder, Vitest's order remains: by the duration of the last run, or else by file size, in descending order. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const left = new Set(await super.sort(files))
    const take = (folder: string) => {
      const taken = [...left].filter(file => isIn(file, folder))
      for (const file of taken) left.delete(file)
      return taken
    }
    const waiting = WAITING.flatMap(take)
    const computing = COMPUTING.flatMap(take)
    return [...spread(waiting, computing), ...left]
  }
}

/** Distributes these evenly between those; the first of these is at the beginning. */
function spread<File>(these: readonly File[], those: readonly File[]): File[] {
  const placed = [
    ...these.map((file, index) => ({ file, at: index / these.length })),
    ...those.map((file, index) => ({ file, at: (index + 0.5) / those.length })),
  ]
  return placed.toSorted((a, b) => a.at - b.at).map(({ file }) => file)
}

function isIn({ moduleId, project }: TestSpecification, folder: string): boolean {
  return relative(project.config.root, moduleId).startsWith(`test/${folder}/`)
}
